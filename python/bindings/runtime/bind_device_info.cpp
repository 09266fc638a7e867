// Everything a device can be asked, as one table: a new question is a new line in it.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <nanobind/stl/string.h>
#include <sycl/aspects.hpp>
#include <sycl/ext/intel/info/device.hpp>
#include <sycl/memory_enums.hpp>

#include "core/format.hpp"
#include "runtime/runtime_bindings.hpp"
#include "support/containers.hpp"
#include "support/signature.hpp"
#include "support/text.hpp"

namespace usmx::python {
namespace {

namespace info = sycl::info::device;
namespace intel = sycl::ext::intel::info::device;

// --- from SYCL's types to Python's

template <class Enum>
struct named {
  Enum value;
  const char* name;
};

template <class Enum>
inline constexpr std::array<named<Enum>, 0> names{};

template <>
inline constexpr auto names<sycl::info::local_mem_type> =
    std::to_array<named<sycl::info::local_mem_type>>({
        {sycl::info::local_mem_type::none, "none"},
        {sycl::info::local_mem_type::local, "local"},
        {sycl::info::local_mem_type::global, "global"},
    });
template <>
inline constexpr auto names<sycl::info::global_mem_cache_type> =
    std::to_array<named<sycl::info::global_mem_cache_type>>({
        {sycl::info::global_mem_cache_type::none, "none"},
        {sycl::info::global_mem_cache_type::read_only, "read_only"},
        {sycl::info::global_mem_cache_type::read_write, "read_write"},
    });
template <>
inline constexpr auto names<sycl::info::fp_config> = std::to_array<named<sycl::info::fp_config>>({
    {sycl::info::fp_config::denorm, "denorm"},
    {sycl::info::fp_config::inf_nan, "inf_nan"},
    {sycl::info::fp_config::round_to_nearest, "round_to_nearest"},
    {sycl::info::fp_config::round_to_zero, "round_to_zero"},
    {sycl::info::fp_config::round_to_inf, "round_to_inf"},
    {sycl::info::fp_config::fma, "fma"},
    {sycl::info::fp_config::correctly_rounded_divide_sqrt, "correctly_rounded_divide_sqrt"},
    {sycl::info::fp_config::soft_float, "soft_float"},
});
template <>
inline constexpr auto names<sycl::memory_order> = std::to_array<named<sycl::memory_order>>({
    {sycl::memory_order::relaxed, "relaxed"},
    {sycl::memory_order::acquire, "acquire"},
    {sycl::memory_order::release, "release"},
    {sycl::memory_order::acq_rel, "acq_rel"},
    {sycl::memory_order::seq_cst, "seq_cst"},
});
template <>
inline constexpr auto names<sycl::memory_scope> = std::to_array<named<sycl::memory_scope>>({
    {sycl::memory_scope::work_item, "work_item"},
    {sycl::memory_scope::sub_group, "sub_group"},
    {sycl::memory_scope::work_group, "work_group"},
    {sycl::memory_scope::device, "device"},
    {sycl::memory_scope::system, "system"},
});
template <>
inline constexpr auto names<sycl::info::partition_property> =
    std::to_array<named<sycl::info::partition_property>>({
        {sycl::info::partition_property::no_partition, "no_partition"},
        {sycl::info::partition_property::partition_equally, "equally"},
        {sycl::info::partition_property::partition_by_counts, "by_counts"},
        {sycl::info::partition_property::partition_by_affinity_domain, "by_affinity_domain"},
        {sycl::info::partition_property::ext_intel_partition_by_cslice, "by_cslice"},
    });
template <>
inline constexpr auto names<sycl::info::partition_affinity_domain> =
    std::to_array<named<sycl::info::partition_affinity_domain>>({
        {sycl::info::partition_affinity_domain::not_applicable, "not_applicable"},
        {sycl::info::partition_affinity_domain::numa, "numa"},
        {sycl::info::partition_affinity_domain::L4_cache, "L4_cache"},
        {sycl::info::partition_affinity_domain::L3_cache, "L3_cache"},
        {sycl::info::partition_affinity_domain::L2_cache, "L2_cache"},
        {sycl::info::partition_affinity_domain::L1_cache, "L1_cache"},
        {sycl::info::partition_affinity_domain::next_partitionable, "next_partitionable"},
    });

nb::object to_python(bool value) { return nb::bool_(value); }
nb::object to_python(const std::string& value) { return new_text(value); }
template <class T>
  requires std::is_integral_v<T>
nb::object to_python(T value) {
  return nb::int_(value);
}
template <class Enum>
  requires std::is_enum_v<Enum>
nb::object to_python(Enum value) {
  for (const auto& row : names<Enum>)
    if (row.value == value) return new_text(row.name);
  return new_text("unknown");
}
nb::object to_python(const sycl::range<3>& value) {
  // SYCL counts the fastest dimension last, as arrays do.
  return nb::make_tuple(value[0], value[1], value[2]);
}
nb::object to_python(const std::array<unsigned char, 16>& uuid) {
  std::string text;
  for (const unsigned char byte : uuid)
    for (const int nibble : {byte >> 4, byte & 15}) text += "0123456789abcdef"[nibble];
  return to_python(text);
}
template <class T>
nb::object to_python(const std::vector<T>& values) {
  nb::list items = new_list();
  for (const auto& value : values) items.append(to_python(value));
  return nb::tuple(items);
}

// --- the table

struct property_row {
  const char* name;
  const char* type;  // Python's, for the signature
  nb::object (*get)(const sycl::device&);
  const char* doc;
};

template <class Query>
nb::object ask(const sycl::device& device) {
  return to_python(device.get_info<Query>());
}

/// A query that only devices with `Aspect` answer.
template <class Query, sycl::aspect Aspect>
nb::object ask_if(const sycl::device& device) {
  return device.has(Aspect) ? ask<Query>(device) : nb::none();
}

nb::object ask_free_memory(const sycl::device& device) {
  const auto bytes = free_memory(device);
  return bytes ? nb::object(nb::int_(*bytes)) : nb::none();
}

constexpr auto count = "int";
constexpr auto text = "str";
constexpr auto flag = "bool";
constexpr auto texts = "tuple[str, ...]";
constexpr auto maybe_count = "int | None";
using sycl::aspect;

constexpr property_row table[] = {
    {"name", text, ask<info::name>, "Name given by the vendor."},
    {"vendor", text, ask<info::vendor>, "Name of the vendor."},
    {"vendor_id", count, ask<info::vendor_id>, "Number of the vendor, of PCI for GPUs."},
    {"driver_version", text, ask<info::driver_version>, "Version of the driver."},
    {"version", text, ask<info::version>, "Version of the backend's interface."},
    {"is_available", flag, ask<info::is_available>, "Whether commands can be submitted."},

    {"max_compute_units", count, ask<info::max_compute_units>, "Parallel compute units."},
    {"max_clock_frequency", count, ask<info::max_clock_frequency>, "Highest clock, in MHz."},
    {"address_bits", count, ask<info::address_bits>, "Bits of an address: 32 or 64."},
    {"max_work_item_dims", count, ask<info::max_work_item_dimensions>,
     "Dimensions that work-item ids can have."},
    {"max_work_item_sizes", "tuple[int, int, int]", ask<info::max_work_item_sizes<3>>,
     "Most work-items of a work-group in each of three dimensions."},
    {"max_work_group_size", count, ask<info::max_work_group_size>,
     "Most work-items of a work-group."},
    {"max_num_sub_groups", count, ask<info::max_num_sub_groups>,
     "Most sub-groups of a work-group."},
    {"sub_group_sizes", "tuple[int, ...]", ask<info::sub_group_sizes>,
     "Work-items that a sub-group can have."},
    {"max_parameter_size", count, ask<info::max_parameter_size>,
     "Bytes that all arguments of a kernel can have."},

    {"global_mem_size", count, ask<info::global_mem_size>, "Global memory, in bytes."},
    {"free_memory", maybe_count, ask_free_memory,
     "Global memory that is free now, in bytes; None if the driver does not tell (Level Zero needs "
     "ZES_ENABLE_SYSMAN=1). For a CPU what the system gives without swapping."},
    {"max_mem_alloc_size", count, ask<info::max_mem_alloc_size>, "Largest allocation, in bytes."},
    {"global_mem_cache_type", text, ask<info::global_mem_cache_type>,
     "\"none\", \"read_only\" or \"read_write\"."},
    {"global_mem_cache_size", count, ask<info::global_mem_cache_size>, "Cache, in bytes."},
    {"global_mem_cache_line_size", count, ask<info::global_mem_cache_line_size>,
     "Cache line, in bytes."},
    {"local_mem_type", text, ask<info::local_mem_type>,
     "\"none\", \"local\" (of its own) or \"global\"."},
    {"local_mem_size", count, ask<info::local_mem_size>, "Local memory of a work-group, in bytes."},
    {"mem_base_addr_align", count, ask<info::mem_base_addr_align>,
     "Least alignment of sub-buffers, in bits."},
    {"error_correction_support", flag, ask<info::error_correction_support>,
     "Whether all memory corrects errors."},
    {"memory_clock_rate", maybe_count,
     ask_if<intel::memory_clock_rate, aspect::ext_intel_memory_clock_rate>,
     "Clock of the memory, in MHz; None if unknown."},
    {"memory_bus_width", maybe_count,
     ask_if<intel::memory_bus_width, aspect::ext_intel_memory_bus_width>,
     "Width of the memory bus, in bits; None if unknown."},
    {"max_mem_bandwidth", maybe_count,
     ask_if<intel::max_mem_bandwidth, aspect::ext_intel_max_mem_bandwidth>,
     "Highest memory bandwidth, in bytes a second; None if unknown."},

    {"preferred_vector_width_char", count, ask<info::preferred_vector_width_char>,
     "Elements of a vector that suits the device."},
    {"preferred_vector_width_short", count, ask<info::preferred_vector_width_short>,
     "Elements of a vector that suits the device."},
    {"preferred_vector_width_int", count, ask<info::preferred_vector_width_int>,
     "Elements of a vector that suits the device."},
    {"preferred_vector_width_long", count, ask<info::preferred_vector_width_long>,
     "Elements of a vector that suits the device."},
    {"preferred_vector_width_float", count, ask<info::preferred_vector_width_float>,
     "Elements of a vector that suits the device."},
    {"preferred_vector_width_double", count, ask<info::preferred_vector_width_double>,
     "Elements of a vector that suits the device; 0 without fp64."},
    {"preferred_vector_width_half", count, ask<info::preferred_vector_width_half>,
     "Elements of a vector that suits the device; 0 without fp16."},
    {"native_vector_width_char", count, ask<info::native_vector_width_char>,
     "Elements of a vector register."},
    {"native_vector_width_short", count, ask<info::native_vector_width_short>,
     "Elements of a vector register."},
    {"native_vector_width_int", count, ask<info::native_vector_width_int>,
     "Elements of a vector register."},
    {"native_vector_width_long", count, ask<info::native_vector_width_long>,
     "Elements of a vector register."},
    {"native_vector_width_float", count, ask<info::native_vector_width_float>,
     "Elements of a vector register."},
    {"native_vector_width_double", count, ask<info::native_vector_width_double>,
     "Elements of a vector register; 0 without fp64."},
    {"native_vector_width_half", count, ask<info::native_vector_width_half>,
     "Elements of a vector register; 0 without fp16."},

    {"half_fp_config", texts, ask<info::half_fp_config>, "What float16 arithmetic does."},
    {"single_fp_config", texts, ask<info::single_fp_config>, "What float32 arithmetic does."},
    {"double_fp_config", texts, ask<info::double_fp_config>, "What float64 arithmetic does."},
    {"atomic_memory_order_capabilities", texts, ask<info::atomic_memory_order_capabilities>,
     "Memory orders of atomic operations."},
    {"atomic_memory_scope_capabilities", texts, ask<info::atomic_memory_scope_capabilities>,
     "Memory scopes of atomic operations."},
    {"atomic_fence_order_capabilities", texts, ask<info::atomic_fence_order_capabilities>,
     "Memory orders of fences."},
    {"atomic_fence_scope_capabilities", texts, ask<info::atomic_fence_scope_capabilities>,
     "Memory scopes of fences."},
    {"profiling_timer_resolution", count, ask<info::profiling_timer_resolution>,
     "Resolution of profiling times, in ns."},

    {"partition_max_sub_devices", count, ask<info::partition_max_sub_devices>,
     "Most sub-devices that it can be divided into."},
    {"partition_properties", texts, ask<info::partition_properties>,
     "Ways to divide it: \"equally\", \"by_counts\", \"by_affinity_domain\", \"by_cslice\"."},
    {"partition_affinity_domains", texts, ask<info::partition_affinity_domains>,
     "What create_sub_devices takes: \"numa\", \"L1_cache\", ..., \"next_partitionable\"."},
    {"partition_type", text, ask<info::partition_type_property>,
     "How this sub-device was made; \"no_partition\" for a root device."},

    {"max_read_image_args", count, ask<info::max_read_image_args>, "Images a kernel can read."},
    {"max_write_image_args", count, ask<info::max_write_image_args>, "Images a kernel can write."},
    {"image_2d_max_width", count, ask<info::image2d_max_width>, "In pixels."},
    {"image_2d_max_height", count, ask<info::image2d_max_height>, "In pixels."},
    {"image_3d_max_width", count, ask<info::image3d_max_width>, "In pixels."},
    {"image_3d_max_height", count, ask<info::image3d_max_height>, "In pixels."},
    {"image_3d_max_depth", count, ask<info::image3d_max_depth>, "In pixels."},
    {"image_max_buffer_size", count, ask<info::image_max_buffer_size>, "In pixels."},
    {"max_samplers", count, ask<info::max_samplers>, "Samplers a kernel can use."},

    {"device_id", maybe_count, ask_if<intel::device_id, aspect::ext_intel_device_id>,
     "Number of the device in PCI; None if it has none."},
    {"uuid", "str | None", ask_if<intel::uuid, aspect::ext_intel_device_info_uuid>,
     "Unique id, 32 hexadecimal digits; None if unknown."},
    {"pci_address", "str | None", ask_if<intel::pci_address, aspect::ext_intel_pci_address>,
     "\"bus:device:function\"; None if it has none."},
    {"gpu_eu_count", maybe_count, ask_if<intel::gpu_eu_count, aspect::ext_intel_gpu_eu_count>,
     "Execution units of an Intel GPU; None for others."},
    {"gpu_eu_simd_width", maybe_count,
     ask_if<intel::gpu_eu_simd_width, aspect::ext_intel_gpu_eu_simd_width>,
     "SIMD width of an Intel GPU's execution unit; None for others."},
    {"gpu_slices", maybe_count, ask_if<intel::gpu_slices, aspect::ext_intel_gpu_slices>,
     "Slices of an Intel GPU; None for others."},
    {"gpu_subslices_per_slice", maybe_count,
     ask_if<intel::gpu_subslices_per_slice, aspect::ext_intel_gpu_subslices_per_slice>,
     "Sub-slices in a slice of an Intel GPU; None for others."},
    {"gpu_eu_count_per_subslice", maybe_count,
     ask_if<intel::gpu_eu_count_per_subslice, aspect::ext_intel_gpu_eu_count_per_subslice>,
     "Execution units in a sub-slice of an Intel GPU; None for others."},
    {"gpu_hw_threads_per_eu", maybe_count,
     ask_if<intel::gpu_hw_threads_per_eu, aspect::ext_intel_gpu_hw_threads_per_eu>,
     "Hardware threads of an Intel GPU's execution unit; None for others."},
};

struct aspect_row {
  sycl::aspect value;
  const char* name;
};

// The runtime's own list, so that its next version's aspects appear by themselves.
#define __SYCL_ASPECT(ASPECT, ID) {sycl::aspect::ASPECT, #ASPECT},
constexpr aspect_row aspects[] = {
#include <sycl/info/aspects.def>
};
#undef __SYCL_ASPECT

nb::frozenset aspects_of(const sycl::device& device) {
  nb::set held = new_set();
  for (const auto& row : aspects)
    if (device.has(row.value)) held.add(new_text(row.name));
  return nb::frozenset(held);
}

bool has_aspect(const sycl::device& device, std::string_view name) {
  for (const auto& row : aspects)
    if (name == row.name) return device.has(row.value);
  std::string known;
  for (const auto& row : aspects)
    known += detail::format("{}{}", known.empty() ? "" : ", ", row.name);
  throw std::invalid_argument(detail::format("aspect: there is no '{}'; there are {}", name,
                                             detail::joined(aspects, &aspect_row::name)));
}

nb::dict all_properties(const sycl::device& device) {
  nb::dict all = new_dict();
  for (const auto& row : table) {
    try {
      all[row.name] = row.get(device);
    } catch (const sycl::exception&) {
      all[row.name] = nb::none();  // a query that this backend does not know
    }
  }
  return all;
}

}  // namespace

void bind_device_info(nb::class_<sycl::device>& type) {
  for (const auto& row : table) {
    const std::string signature = detail::format("def {}(self) -> {}", row.name, row.type);
    type.def_prop_ro(
        row.name, [get = row.get](const sycl::device& self) { return get(self); },
        nb::sig(signature.c_str()), row.doc);
  }
  for (const auto& row : aspects) {
    const std::string name = detail::format("has_aspect_{}", row.name);
    const std::string signature = "def " + name + "(self) -> bool";
    type.def_prop_ro(
        name.c_str(), [value = row.value](const sycl::device& self) { return self.has(value); },
        nb::sig(signature.c_str()));
  }
  type.def_prop_ro("aspects", &aspects_of, "Names of all aspects that the device has.",
                   nb::sig("def aspects(self) -> frozenset[str]"))
      .def(
          "has_aspect(self, name: str) -> bool"_sig,
          [](const sycl::device& self, const nb::str& name) {
            return has_aspect(self, to_text(name, "aspect"));
          },
          "Whether the device has an aspect of SYCL.\n\n"
          "Parameters\n----------\n"
          "name : str\n    Such as ``\"fp64\"`` or ``\"usm_shared_allocations\"``; `aspects` has "
          "those of the device.\n\n"
          "Returns\n-------\nbool\n\n"
          "Raises\n------\nValueError\n    If there is no aspect of that name: with those there "
          "are.")
      .def("properties(self) -> dict[str, object]"_sig, &all_properties,
           "All properties of the device.\n\n"
           "Returns\n-------\n"
           "dict\n    By name; None where the driver does not know.");
}

}  // namespace usmx::python
