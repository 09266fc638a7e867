// An array exists only if its whole extent is USM of its context, and the owner of the memory gets
// it back exactly once.
// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include <sycl/properties/queue_properties.hpp>
#include <sycl/usm.hpp>

#include "check.hpp"
#include "usmx/array.hpp"
#include "usmx/runtime.hpp"

namespace {

using namespace usmx;

const usm_kind kinds[] = {usm_kind::device, usm_kind::shared, usm_kind::host};

any_view floats(void* data, extents shape, extents strides) {
  layout where;
  CHECK(layout::strided(std::move(shape), std::move(strides), 4, where) == fault::none);
  any_view out;
  CHECK(any_view::make(data, dtype::of<float>(), where, usm_kind::unknown, false, out) ==
        fault::none);
  return out;
}

fault refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const interop_error& e) {
    CHECK(std::string_view(e.what()).find(field_of(e.code())) == 0);
    return e.code();
  }
  return fault::none;
}

array memory(usm_kind kind, std::int64_t n) {
  const std::int64_t shape[] = {n};
  return array::empty(default_queue(), shape, dtype::of<float>(), kind);
}

}  // namespace

TEST(Array, EmptyHasTheKindShapeAndQueueAskedFor) {
  for (const usm_kind kind : kinds) {
    const std::int64_t shape[] = {3, 0, 5};
    const array none = array::empty(default_queue(), shape, dtype::of<double>(), kind);
    CHECK_EQUAL(none.elements().size(), 0);
    CHECK(none.data() != nullptr);
    const array a = memory(kind, 100);
    CHECK(a.kind() == kind);
    CHECK(kind_of(a.data(), a.queue().get_context()) == kind);
    CHECK(a.queue() == default_queue());
    CHECK(a.elements().layout().shape() == extents{100});
    CHECK(a.keep_alive()->bytes() >= 400);
    CHECK(!a.elements().read_only());
  }
}

TEST(Array, EmptyRefusesWhatCannotBe) {
  const std::int64_t huge[] = {std::int64_t{1} << 32, std::int64_t{1} << 32};
  CHECK(refusal([&] { (void)array::empty(default_queue(), huge, dtype::of<float>()); }) ==
        fault::shape_overflow);
  const std::int64_t negative[] = {2, -1};
  CHECK(refusal([&] { (void)array::empty(default_queue(), negative, dtype::of<float>()); }) ==
        fault::shape_negative);
  const std::int64_t one[] = {1};
  CHECK_THROWS(std::invalid_argument,
               array::empty(default_queue(), one, dtype::of<float>(), usm_kind::unknown));
  const std::int64_t too_much[] = {std::int64_t{1} << 60};
  CHECK_THROWS(allocation_error, array::empty(default_queue(), too_much, dtype::of<char>()));
}

TEST(Array, BindFindsTheKindOfInteriorPointers) {
  for (const usm_kind kind : kinds) {
    const array a = memory(kind, 100);
    auto* const data = static_cast<float*>(a.data());
    const array part = array::bind(floats(data + 10, {5}, {3}), default_queue(), a.keep_alive());
    CHECK(part.kind() == kind);
    CHECK(part.data() == data + 10);
    const array backwards =
        array::bind(floats(data + 99, {100}, {-1}), default_queue(), a.keep_alive());
    CHECK(backwards.kind() == kind);
    const array whole = array::bind(floats(data, {10, 10}, {1, 10}), default_queue(), {});
    CHECK(whole.keep_alive() == nullptr);
  }
}

TEST(Array, BindRefusesWhatLeavesTheAllocation) {
  for (const usm_kind kind : kinds) {
    const array a = memory(kind, 256);
    const auto outside = extent_of(a.data(), a.queue().get_context());
    CHECK(outside.has_value());
    auto* const data = reinterpret_cast<float*>(outside->base);
    const auto n = static_cast<std::int64_t>(outside->bytes / 4);
    const auto bind = [&](float* p, extents shape, extents strides) {
      return refusal(
          [&] { (void)array::bind(floats(p, shape, strides), default_queue(), a.keep_alive()); });
    };
    CHECK(bind(data, {n}, {1}) == fault::none);
    CHECK(bind(data, {n + 1}, {1}) == fault::out_of_allocation);
    CHECK(bind(data + 1, {n}, {1}) == fault::out_of_allocation);
    CHECK(bind(data, {2}, {-1}) == fault::out_of_allocation);
    CHECK(bind(data, {2}, {n}) == fault::out_of_allocation);
    CHECK(bind(data + n - 1, {n}, {-1}) == fault::none);
    CHECK(bind(data + n - 1, {n + 1}, {-1}) == fault::out_of_allocation);
    CHECK(bind(data, {2, 2}, {std::int64_t{1} << 40, 1}) == fault::out_of_allocation);
  }
}

TEST(Array, BindAsksTheDriverAboutEachEndOfMemoryOfOthers) {
  const sycl::queue q = default_queue();
  for (const usm_kind kind : kinds) {
    for (const std::int64_t n : {1, 3, 16, 1023, 1024, 5000}) {
      const auto bytes = static_cast<std::size_t>(n) * sizeof(float);
      auto* const data =
          static_cast<float*>(kind == usm_kind::host     ? sycl::malloc_host(bytes, q)
                              : kind == usm_kind::shared ? sycl::malloc_shared(bytes, q)
                                                         : sycl::malloc_device(bytes, q));
      const auto bind = [&](float* p, extents shape, extents strides) {
        return refusal([&] { (void)array::bind(floats(p, shape, strides), q, {}); });
      };
      CHECK(bind(data, {n}, {1}) == fault::none);
      CHECK(bind(data + n - 1, {n}, {-1}) == fault::none);
      CHECK(bind(data + n / 2, {n - n / 2}, {1}) == fault::none);
      CHECK(array::bind(floats(data + n - 1, {1}, {1}), q, {}).kind() == kind);
      CHECK(bind(data, {n + 1}, {1}) == fault::out_of_allocation);
      CHECK(bind(data, {2}, {n}) == fault::out_of_allocation);
      CHECK(bind(data, {2}, {-1}) == fault::out_of_allocation);
      CHECK(bind(data + n - 1, {n + 1}, {-1}) == fault::out_of_allocation);
      CHECK(bind(data + n - 1, {2}, {1}) == fault::out_of_allocation);
      // From inside of one allocation into another one, or back.
      auto* const other = static_cast<float*>(sycl::malloc_shared(bytes, q));
      const std::int64_t distance = other - data;
      CHECK(bind(data, {2}, {distance}) == fault::out_of_allocation);
      CHECK(bind(other, {2}, {-distance}) == fault::out_of_allocation);
      sycl::free(other, q);
      sycl::free(data, q);
      CHECK(bind(data, {n}, {1}) == fault::not_usm);
    }
  }
}

TEST(Array, BindRefusesForeignPointers) {
  std::vector<float> plain(10);
  CHECK(refusal([&] { (void)array::bind(floats(plain.data(), {10}, {1}), default_queue(), {}); }) ==
        fault::not_usm);
  const array a = memory(usm_kind::shared, 10);
  const any_view claimed = floats(a.data(), {10}, {1}).with_kind(usm_kind::device);
  CHECK(refusal([&] { (void)array::bind(claimed, default_queue(), {}); }) == fault::kind_mismatch);
  // Nothing is read through an empty view, so its pointer does not matter.
  const array none = array::bind(floats(nullptr, {0}, {1}), default_queue(), {});
  CHECK_EQUAL(none.elements().size(), 0);
}

TEST(Array, AdoptRunsTheDeleterOnceAfterTheLastArray) {
  for (const usm_kind kind : kinds) {
    const array lender = memory(kind, 100);
    int runs = 0;
    void* seen = nullptr;
    {
      const std::int64_t shape[] = {10, 10};
      array a =
          array::adopt(default_queue(), lender.data(), shape, dtype::of<float>(), [&](void* p) {
            ++runs;
            seen = p;
          });
      CHECK(a.kind() == kind);
      std::int64_t shift = 0;
      const layout row = a.elements().layout().indexed(0, 3, shift);
      const array part = a.with_view(a.elements().with_layout(row, shift));
      a = {};
      CHECK_EQUAL(runs, 0);
    }
    drain();
    CHECK_EQUAL(runs, 1);
    CHECK(seen == lender.data());
  }
}

TEST(Array, AdoptRunsTheDeleterOnceAlsoWhenItThrows) {
  const array lender = memory(usm_kind::device, 100);
  const auto extent = extent_of(lender.data(), lender.queue().get_context());
  std::vector<float> plain(4);
  const auto attempt = [&](void* data, std::vector<std::int64_t> shape) {
    int runs = 0;
    const fault f = refusal([&] {
      (void)array::adopt(default_queue(), data, shape, dtype::of<float>(), [&](void*) { ++runs; });
    });
    drain();
    CHECK_EQUAL(runs, 1);
    return f;
  };
  CHECK(attempt(plain.data(), {4}) == fault::not_usm);
  CHECK(attempt(lender.data(), {static_cast<std::int64_t>(extent->bytes)}) ==
        fault::out_of_allocation);
  CHECK(attempt(lender.data(), {-1}) == fault::shape_negative);
  CHECK(attempt(nullptr, {4}) == fault::data_null);
  CHECK(attempt(static_cast<char*>(lender.data()) + 1, {4}) == fault::data_misaligned);
  CHECK(attempt(lender.data(), {100}) == fault::none);
}

TEST(Array, OnTakesAQueueOfTheSameContextOnly) {
  const array a = memory(usm_kind::device, 10);
  const sycl::context context = default_queue().get_context();
  const sycl::device device = default_queue().get_device();
  const sycl::queue sibling(context, device, sycl::property::queue::in_order());
  const array b = a.on(sibling);
  CHECK(b.queue() == sibling);
  CHECK(b.data() == a.data());
  CHECK(b.keep_alive() == a.keep_alive());
  const sycl::queue stranger(sycl::context(device), device);
  CHECK_THROWS(std::invalid_argument, a.on(stranger));
  CHECK_THROWS(std::invalid_argument, array().on(sibling));
}
