"""What quick runs, and runs with pairs, have of the tests that are expensive; full runs have all.

A key is a part of the name ``file::function``; of several that fit, the longest counts.
"""
# SPDX-License-Identifier: Apache-2.0

#: Of each file every so many functions, the first one and on: in rooms whose tests compile kernels
#: or start processes (docs/decisions/0117-three-depths-of-tests.md). Elsewhere all.
PART = {
    "tests/python/array/": 6,
    "tests/python/expression/": 4,
    "tests/python/fusion/": 4,
    "tests/python/kernel/": 4,
    "tests/python/laws/": 3,
    "tests/python/package/": 4,
    "tests/python/protocols/": 3,
    "tests/python/python_kernel/": 6,
    "tests/python/runtime/": 4,
    "tests/consume/": 4,
}

#: The most cases of one function. Where no key fits, every pair of the parameters' values. 0 is for
#: functions that build programs of others, or of which one case alone takes longer than a hundred
#: others (docs/decisions/0103-tests-of-full-runs.md).
SHARE = {
    # Cases that compile kernels: 0.2 s each, and most have several.
    "tests/python/array/": 1,
    "tests/python/expression/": 1,
    "tests/python/fusion/": 1,
    "tests/python/kernel/": 1,
    "tests/python/laws/": 2,
    "tests/python/python_kernel/": 1,
    "laws/test_row_laws.py::": 1,
    "laws/test_one_name.py::": 1,
    # Of rows and calls that are cheap.
    "test_arithmetic.py::test_the_types_are_those_of_numpy": 20,
    "test_standard.py::test_each_call_that_the_standard_allows": 20,
    # Only in full runs: environments, extensions and programs that are built on the wheel.
    "consume/test_example.py::": 0,
    "consume/test_kit.py::": 0,
    "consume/test_readme.py::": 0,
    "consume/test_wheel.py::": 0,
    "consume/test_cmake.py::": 0,
    "consume/test_arrow_pool.py::": 0,
    "consume/test_cpp_program.py::": 0,
    "consume/test_must_not_compile.py::": 0,
    "test_type_checkers.py::": 0,
    # Only in full runs: one case is ten seconds of processor time or several GB.
    "test_bfloat16.py::test_sums_are_taken": 0,
    "test_nan_reductions.py::test_complex_numbers_have_numpys_order": 0,
    "test_products.py::test_a_product_of_finite_numbers_is_not_nan": 0,
    "test_program_memory.py::test_programs_stay_within_the_limit": 0,
    "test_recipes.py::test_the_test_of_a_recipe_passes": 0,
    "test_recipes.py::test_a_recipe_of_the_core_compiles": 0,
    "test_arithmetic.py::test_the_host_reads_any_layout": 0,
    "test_special.py::test_arrays_are_as_exact_as_measured": 0,
    "test_reduction.py::test_a_structure_is_reduced": 0,
    "test_memory_life.py::test_new_memory_that_the_host_can_write": 4,
    "test_memory_life.py::test_reference_counts_are_constant": 1,
    "test_resources.py::test_memory_outlives_its_resource": 12,
    "test_nvptx.py::test_every_kernel_compiles_for_cuda": 0,
    "test_bench.py::test_every_row_of_every_benchmark": 0,
    "test_large_copies.py::test_device_memory_of_more_elements": 0,
    "test_large.py::test_elements_beyond_32_bits": 0,
    "test_large_ranges.py::": 0,
    "test_examples.py::test_files_of_the_user_of_each_type": 0,
    "test_programs_of_packages.py::test_after_a_second_of_compiling": 0,
    "test_arithmetic.py::test_lists_and_tuples": 0,
    "test_array_machine.py::test_programs_of_random_steps": 0,
    "test_bench_command.py::test_the_command_bench": 0,
    "test_bfloat16.py::test_functions_of_two_operands": 0,
    "test_calculus.py::test_gradients": 0,
    "test_calculus.py::test_interpolation": 0,
    "test_casters.py::": 0,
    "test_correlation.py::test_weighted_means": 0,
    "test_elementary.py::test_kernels_with_other_operations": 0,
    "test_examples.py::test_reading_makes_one_allocation": 0,
    "test_fuzz_api.py::test_no_call_of_anything_public": 1,
    "test_histograms.py::": 0,
    "test_in_groups.py::test_long_rows": 0,
    "test_indexing.py::test_kernels_written_for_cuda": 0,
    "test_interop_zero_copy.py::test_nothing_is_copied": 0,
    "test_lifetime.py::test_interpreter_ends_cleanly": 1,
    "test_pickles.py::test_workers_of_other_libraries": 0,
    "test_self.py::test_no_method_and_no_slot": 0,
    "test_order_of_results.py::": 1,
    "test_operation_laws.py::test_given_output_of_any": 1,
    "test_kinds_of_results.py::test_the_kind_of_a_result_does_not": 4,
    "test_fork.py::test_a_child_computes": 2,
    "test_process_end.py::test_daemon_threads": 2,
    # Cases that start processes, build programs or repeat a call ten thousand times.
    "tests/consume/": 2,
    "tests/python/package/": 2,
    "tests/python/protocols/": 3,
    "tests/python/runtime/": 2,
    "test_memory_life.py::test_owners_and_users": 4,
    "test_memory_life.py::test_free_is_refused_or_comes_after": 4,
    "test_numpy_protocols.py::test_methods_of_ufuncs": 1,
    "test_bad_input.py::test_refused_with_words": 12,
    "test_docs.py::test_a_block_pasted_alone": 1,
    "test_examples.py::": 2,
    "test_fault_injection.py::": 1,
    "test_bad_input.py::test_refusing_many_times": 0,
    "test_lifetime.py::": 2,
    "keep_memory_flat": 2,
    "test_signatures.py::test_everything_public_has_a_signature": 100,
}

#: With pairs the most cases of one function, in rooms whose tests compile a kernel in each case.
#: All functions have some: every value first, from all parts of long lists. Elsewhere every pair.
WITH_PAIRS = {
    "tests/python/array/": 2,
    "tests/python/expression/": 6,
    "tests/python/fusion/": 6,
    "tests/python/kernel/": 4,
    "tests/python/laws/": 12,
    "tests/python/python_kernel/": 4,
    "laws/test_one_name.py::test_": 5,
    "laws/test_powers.py::test_each_way": 20,
    "protocols/test_order_laws.py::": 12,
    "test_docs.py::test_a_block_pasted_alone": 16,
    # Of which one case starts a process, or several.
    "test_out_of_memory.py::test_a_failed_allocation_is": 16,
    "test_process_end.py::test_daemon_threads": 10,
    "test_kernels_by_value.py::test_kernels_arrive": 12,
    "test_lifetime.py::test_interpreter_ends_cleanly": 10,
    "test_fork.py::test_a_child_computes": 3,
    "test_migrate.py::test_a_program_runs_after": 2,
    "test_fuzz_api.py::test_no_call_of_anything_public": 2,
    # Of which one case is seconds.
    "test_bad_input.py::test_refusing_many_times": 6,
    "test_protocol_laws.py::test_chain_of_libraries": 24,
    "test_operation_laws.py::test_given_output_of_any": 1,
    "test_operation_laws.py::test_result_of_long_axes": 5,
    "array/test_arithmetic.py::test_the_values_are": 1,
    "array/test_arithmetic.py::test_lists_and_tuples": 1,
    "array/test_bfloat16.py::test_sums_are_taken": 1,
    "array/test_histograms.py::test_counts_of_numbers": 1,
    "array/test_in_groups.py::test_long_rows": 1,
    "array/test_products.py::test_a_product_of_finite": 1,
    "array/test_statistics.py::test_reductions_begin_with": 1,
    "test_memory_life.py::test_owners_and_users": 8,
    "array/test_nan_reductions.py::test_complex_numbers_have": 1,
}
