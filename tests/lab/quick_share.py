"""The most cases of one function in a quick run, where every pair of values would be too slow.

A key is a part of the name ``file::function``; of several that fit, the longest counts. Where no
key fits, a quick run has every pair of the parameters' values.
"""
# SPDX-License-Identifier: Apache-2.0

SHARE = {
    # Cases that compile kernels: 0.2 s each, and most have several.
    "tests/python/array/": 2,
    "tests/python/expression/": 2,
    "tests/python/fusion/": 2,
    "tests/python/kernel/": 2,
    "tests/python/laws/": 12,
    "tests/python/python_kernel/": 3,
    "test_rows.py::test_pairs_of_layouts": 1,
    "test_indexing.py::test_keys_with_arrays": 1,
    "test_histograms.py::test_histograms_are_those_of_numpy": 1,
    "test_sets.py::test_different_elements": 1,
    "test_nan_reductions.py::test_reductions_pass_over_nan": 1,
    "test_bfloat16.py::": 1,
    "test_deferred_rows.py::": 1,
    "test_program_memory.py::test_programs_stay_within_the_limit": 1,
    "laws/test_row_laws.py::": 2,
    "laws/test_one_name.py::": 2,
    "laws/test_one_name.py::test_arrays_and_texts": 5,
    # Of rows and calls that are cheap.
    "test_arithmetic.py::test_the_types_are_those_of_numpy": 20,
    "test_standard.py::test_each_call_that_the_standard_allows": 20,
    # Cases that start processes, build programs or repeat a call ten thousand times.
    "tests/consume/": 4,
    "tests/python/package/": 4,
    "tests/python/protocols/": 8,
    "tests/python/runtime/": 6,
    "test_memory_life.py::test_owners_and_users": 12,
    "test_memory_life.py::test_free_is_refused_or_comes_after": 12,
    "test_numpy_protocols.py::test_methods_of_ufuncs": 1,
    "test_bad_input.py::test_refused_with_words": 40,
    "test_docs.py::test_a_block_pasted_alone": 8,
    "test_examples.py::": 4,
    "test_fault_injection.py::": 3,
    "test_bad_input.py::test_refusing_ten_thousand_times": 2,
    "test_lifetime.py::": 4,
    "keep_memory_flat": 2,
    "test_signatures.py::test_everything_public_has_a_signature": 100,
}
