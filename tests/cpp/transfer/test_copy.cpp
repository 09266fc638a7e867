// Copies between any two layouts, dtypes and kinds agree with the plainest loop that can be
// written.
// SPDX-License-Identifier: Apache-2.0
#include <complex>
#include <cstring>
#include <limits>
#include <random>
#include <thread>
#include <vector>

#include <sycl/properties/queue_properties.hpp>

#include "check.hpp"
#include "copy_model.hpp"
#include "usmx/copy.hpp"
#include "usmx/detail/inspection.hpp"
#include "usmx/kernel.hpp"
#include "usmx/runtime.hpp"

namespace {

using namespace usmx;
using namespace copy_model;

template <class To, class From>
void copy_and_compare(std::mt19937& random, const extents& shape, usm_kind to_kind,
                      usm_kind from_kind) {
  const sycl::queue& queue = default_queue();
  const picture to = random_picture(random, shape);
  const picture from = random_picture(random, shape);
  mirrored<To> dst(queue, to_kind, to.elements, 1);
  const mirrored<From> src(queue, from_kind, from.elements, 5);
  copy(dst.with(to), src.with(from));
  std::int64_t n = 1;
  for (const std::int64_t length : shape) n *= length;
  for (std::int64_t k = 0; k < n; ++k) {
    dst.known[static_cast<std::size_t>(position(to, k))] =
        cast<To>(src.known[static_cast<std::size_t>(position(from, k))]);
  }
  // Gaps included: a copy must not touch them.
  dst.check_against_device();
}

template <class T>
std::vector<T> host_values(const array& a) {
  std::vector<T> out(static_cast<std::size_t>(a.elements().size()));
  any_view view;
  CHECK(any_view::make(out.data(), dtype::of<T>(), packed(a.elements().layout().shape(), sizeof(T)),
                       usm_kind::unknown, false, view) == fault::none);
  copy_to_host(view, a);
  return out;
}

template <class T>
any_view host_view(std::vector<T>& values, const extents& shape) {
  any_view view;
  CHECK(any_view::make(values.data(), dtype::of<T>(), packed(shape, sizeof(T)), usm_kind::unknown,
                       false, view) == fault::none);
  return view;
}

template <class T>
array make(usm_kind kind, const extents& shape, std::vector<T> values) {
  array out = array::empty(default_queue(), shape.span(), dtype::of<T>(), kind);
  copy_from_host(out, host_view(values, shape));
  return out;
}

}  // namespace

TEST(Copy, EveryPairOfTypesOnTheHost) {
  std::mt19937 random(1);
  for_each_type(all_types{}, [&](auto to) {
    for_each_type(all_types{}, [&](auto from) {
      copy_and_compare<decltype(to), decltype(from)>(random, {3, 5, 4}, usm_kind::shared,
                                                     usm_kind::host);
    });
  });
}

// More than a few runs, so that each pair takes a kernel; 14 x 14 compilations would take too long
// here, so every type meets its neighbours and the widest ones.
TEST(Copy, TypesMeetOnTheDevice) {
  std::mt19937 random(2);
  int types = 0;
  for_each_type(all_types{}, [&](auto type) {
    if (types++ % 4 != 0 && check::quick()) return;
    copy_and_compare<double, decltype(type)>(random, {9, 5, 4}, usm_kind::device, usm_kind::device);
    copy_and_compare<decltype(type), std::complex<float>>(random, {9, 5, 4}, usm_kind::device,
                                                          usm_kind::device);
    copy_and_compare<decltype(type), decltype(type)>(random, {9, 5, 4}, usm_kind::device,
                                                     usm_kind::shared);
  });
}

TEST(Copy, EveryPairOfKindsAnyLayoutAnyRank) {
  std::mt19937 random(3);
  for (const usm_kind to : kinds) {
    for (const usm_kind from : kinds) {
      copy_and_compare<float, float>(random, {}, to, from);
      copy_and_compare<float, std::int16_t>(random, {}, to, from);
      for (int rank = 1; rank <= 6; rank += check::quick() ? 3 : 1) {
        extents shape(static_cast<std::size_t>(rank));
        for (std::size_t k = 0; k < shape.size(); ++k)
          shape[k] = 1 + static_cast<std::int64_t>(random() % 4);
        copy_and_compare<float, float>(random, shape, to, from);
        copy_and_compare<double, float>(random, shape, to, from);
      }
      copy_and_compare<float, float>(random, {300, 70}, to, from);
      copy_and_compare<double, float>(random, {700, 3}, to, from);
    }
  }
}

TEST(Copy, HostMemoryOnOneSide) {
  std::mt19937 random(4);
  for (const usm_kind kind : kinds) {
    for (const extents& shape :
         {extents{}, extents{7}, extents{40, 30}, extents{3, 50, 2}, extents{2, 3, 4, 3, 2}}) {
      const picture on_device = random_picture(random, shape);
      const picture on_host = random_picture(random, shape);
      mirrored<float> a(default_queue(), kind, on_device.elements, 3);
      std::vector<double> plain(static_cast<std::size_t>(on_host.elements), -1);
      std::vector<double> expected = plain;
      const std::int64_t n = a.with(on_device).elements().size();

      copy_to_host(seen(plain.data(), dtype::of<double>(), on_host, usm_kind::unknown),
                   a.with(on_device));
      for (std::int64_t k = 0; k < n; ++k) {
        expected[static_cast<std::size_t>(position(on_host, k))] =
            a.known[static_cast<std::size_t>(position(on_device, k))];
      }
      CHECK(plain == expected);

      for (double& x : plain) x += 100;
      copy_from_host(a.with(on_device),
                     seen(plain.data(), dtype::of<double>(), on_host, usm_kind::unknown));
      for (std::int64_t k = 0; k < n; ++k) {
        a.known[static_cast<std::size_t>(position(on_device, k))] =
            static_cast<float>(plain[static_cast<std::size_t>(position(on_host, k))]);
      }
      a.check_against_device();
    }
  }
}

namespace {

/// Copies a source whose axis `order[k]` is axis k of the destination. Both lie in rooms three
/// longer than they are, the destination from (2, 2, ...), the source from (1, 1, ...).
template <class T>
void transpose_and_compare(usm_kind kind, const extents& shape, std::span<const int> order) {
  const std::size_t rank = shape.size();
  std::vector<int> axes(rank);
  extents to_room(rank);
  extents from_room(rank);
  std::size_t count = 1;
  for (std::size_t k = 0; k < rank; ++k) {
    axes[k] = static_cast<int>(k);
    to_room[k] = shape[k] + 3;
    from_room[static_cast<std::size_t>(order[k])] = shape[k] + 3;
    count *= static_cast<std::size_t>(shape[k] + 3);
  }
  std::vector<T> values(count);
  for (std::size_t k = 0; k < count; ++k)
    values[k] = static_cast<T>(static_cast<signed char>(k % 119 + 1));
  const array src = make<T>(kind, from_room, values);
  const array dst = make<T>(kind, to_room, std::vector<T>(count));
  const auto inside = [](const array& a, std::int64_t start, std::span<const int> permutation) {
    any_view v = a.elements();
    for (int k = 0; k < v.rank(); ++k) {
      v = v.sliced(k, start, v.layout().shape()[static_cast<std::size_t>(k)] - 3, 1);
    }
    return a.with_view(v.with_layout(v.layout().permuted(permutation), 0));
  };
  copy(inside(dst, 2, axes), inside(src, 1, order));

  const auto got = host_values<T>(dst);
  std::vector<std::int64_t> at(rank);
  for (std::size_t flat = 0; flat < count; ++flat) {
    auto rest = static_cast<std::int64_t>(flat);
    bool copied = true;
    for (std::size_t k = rank; k-- > 0;) {
      const std::int64_t index = rest % to_room[k] - 2;
      rest /= to_room[k];
      copied = copied && index >= 0 && index < shape[k];
      at[static_cast<std::size_t>(order[k])] = index + 1;
    }
    std::int64_t from = 0;
    for (std::size_t k = 0; copied && k < rank; ++k) from = from * from_room[k] + at[k];
    CHECK(got[flat] == (copied ? values[static_cast<std::size_t>(from)] : T()));
  }
}

}  // namespace

// Lengths around the edges of tiles, more dimensions outside and between, gaps on both sides, every
// size of an element, on the host and on the device, there as on devices of either kind.
TEST(Copy, TranspositionsOfEveryItemSizeAndTileEdge) {
  const int matrix[] = {1, 0};
  const int outside[] = {0, 2, 1};
  const int around[] = {2, 1, 0};
  const int two[] = {0, 1, 3, 2};
  const int all[] = {4, 2, 0, 3, 1};
  for (const char* forms : {"", "native_cpu", "level_zero"}) {
    const usm_kind kind = *forms == '\0' ? usm_kind::shared : usm_kind::device;
    usmx::detail::use_forms_of(forms);
    const auto each_size = [&](const extents& shape, std::span<const int> order) {
      transpose_and_compare<std::uint8_t>(kind, shape, order);
      transpose_and_compare<float>(kind, shape, order);
      transpose_and_compare<std::complex<double>>(kind, shape, order);
      if (check::quick()) return;  // each size of items is kernels of its own
      transpose_and_compare<std::int16_t>(kind, shape, order);
      transpose_and_compare<double>(kind, shape, order);
      transpose_and_compare<std::complex<float>>(kind, shape, order);
    };
    const std::int64_t lengths[] = {7, 8, 15, 16, 17, 32, 33, 63, 64, 65, 129, 200};
    for (std::size_t k = 0; k < std::size(lengths); k += check::quick() ? 5 : 1) {
      each_size({lengths[k], lengths[std::size(lengths) - 1 - k]}, matrix);
      each_size({lengths[k], lengths[k]}, matrix);
    }
    each_size({3, 33, 65}, outside);
    each_size({33, 3, 70}, around);
    each_size({2, 3, 20, 40}, two);
    transpose_and_compare<float>(kind, {9, 3, 20, 2, 17}, all);
    transpose_and_compare<std::complex<double>>(kind, {3, 2, 20, 2, 9}, all);
  }
  usmx::detail::use_forms_of("");
}

// Words of 16 bytes need places that are so many bytes apart.
TEST(Copy, RunsOfSixteenBytesAnyBytesApart) {
  for (const std::int64_t step : {16, 24, 32, 40}) {
    std::vector<std::uint8_t> values(static_cast<std::size_t>(50 * step));
    for (std::size_t k = 0; k < values.size(); ++k) values[k] = static_cast<std::uint8_t>(k % 251);
    const array src = make<std::uint8_t>(usm_kind::device, {50, step}, values);
    const array dst =
        make<std::uint8_t>(usm_kind::device, {50, 16}, std::vector<std::uint8_t>(800));
    copy(dst, src.with_view(src.elements().sliced(1, 0, 16, 1)));
    const auto got = host_values<std::uint8_t>(dst);
    for (std::size_t k = 0; k < got.size(); ++k) {
      CHECK_EQUAL(got[k], values[k / 16 * static_cast<std::size_t>(step) + k % 16]);
    }
  }
}

// The way by staging would hide a kernel that does not compile: its results are right, too.
TEST(Copy, StridedDeviceMemoryIsMovedByAKernel) {
  std::mt19937 random(7);
  const auto built = [] {
    const auto counts = program::counts();
    return counts.compiled + counts.found + counts.loaded;
  };
  for (const char* forms : {"native_cpu", "level_zero"}) {
    usmx::detail::use_forms_of(forms);
    const auto before = built();
    copy_and_compare<sycl::half, std::int8_t>(random, {30, 20, 3}, usm_kind::device,
                                              usm_kind::device);
    copy_and_compare<std::complex<double>, bool>(random, {3, 2, 3, 2, 3, 2}, usm_kind::device,
                                                 usm_kind::device);
    copy_and_compare<bool, std::complex<double>>(random, {3, 2, 3, 2, 3, 2}, usm_kind::device,
                                                 usm_kind::device);
    CHECK_EQUAL(built(), before + 3);
  }
  usmx::detail::use_forms_of("");
}

TEST(Copy, BroadcastSource) {
  for (const usm_kind kind : kinds) {
    const array row = make<std::int32_t>(kind, {3}, {1, 2, 3});
    layout repeated;
    CHECK(row.elements().layout().broadcast({40, 3}, repeated));
    const array dst = make<std::int64_t>(kind, {40, 3}, std::vector<std::int64_t>(120));
    copy(dst, row.with_view(row.elements().with_layout(repeated, 0)));
    const auto got = host_values<std::int64_t>(dst);
    for (std::size_t k = 0; k < got.size(); ++k)
      CHECK_EQUAL(got[k], static_cast<std::int64_t>(k % 3 + 1));
  }
}

TEST(Copy, OverlapIsCopiedAsByWayOfATemporary) {
  for (const usm_kind kind : kinds) {
    std::vector<std::int32_t> values(1000);
    for (std::size_t k = 0; k < values.size(); ++k) values[k] = static_cast<std::int32_t>(k);
    const array a = make(kind, {1000}, values);
    std::int64_t shift = 0;
    const layout& all = a.elements().layout();
    const layout back = all.sliced(0, 999, 1000, -1, shift);
    copy(a, a.with_view(a.elements().with_layout(back, shift)));
    auto got = host_values<std::int32_t>(a);
    for (std::size_t k = 0; k < got.size(); ++k)
      CHECK_EQUAL(got[k], static_cast<std::int32_t>(999 - k));

    const layout head = all.sliced(0, 0, 999, 1, shift);
    const array to = a.with_view(a.elements().with_layout(head, shift));
    const layout tail = all.sliced(0, 1, 999, 1, shift);
    copy(to, a.with_view(a.elements().with_layout(tail, shift)));
    got = host_values<std::int32_t>(a);
    for (std::size_t k = 0; k < 999; ++k) CHECK_EQUAL(got[k], static_cast<std::int32_t>(998 - k));
  }
}

TEST(Copy, RecordsOfAnySize) {
  dtype record;
  for (const std::size_t size : {3U, 6U, 12U, 20U}) {
    CHECK(dtype::parse("|V" + std::to_string(size), record) == fault::none);
    for (const usm_kind kind : kinds) {
      const std::int64_t n = 200;
      std::vector<unsigned char> bytes(size * n);
      for (std::size_t k = 0; k < bytes.size(); ++k) bytes[k] = static_cast<unsigned char>(k * 7);
      const std::int64_t shape[] = {n};
      const array a = array::empty(default_queue(), shape, record, kind);
      any_view plain;
      CHECK(any_view::make(bytes.data(), record, packed({n}, size), usm_kind::unknown, false,
                           plain) == fault::none);
      copy_from_host(a, plain);
      std::int64_t shift = 0;
      const layout every_other = a.elements().layout().sliced(0, n - 1, n / 2, -2, shift);
      const std::int64_t half[] = {n / 2};
      const array b = array::empty(default_queue(), half, record, kind);
      copy(b, a.with_view(a.elements().with_layout(every_other, shift)));
      std::vector<unsigned char> got(size * n / 2);
      any_view out;
      CHECK(any_view::make(got.data(), record, packed({n / 2}, size), usm_kind::unknown, false,
                           out) == fault::none);
      copy_to_host(out, b);
      for (std::size_t k = 0; k < n / 2; ++k) {
        CHECK(std::memcmp(&got[k * size], &bytes[(static_cast<std::size_t>(n) - 1 - 2 * k) * size],
                          size) == 0);
      }
    }
  }
}

TEST(Copy, NumbersThatDoNotFitAreTheSameOnHostAndDevice) {
  const double inf = std::numeric_limits<double>::infinity();
  const std::vector<double> values = {
      0.5,           -0.5, -1.0, 127.9, 128.0,   300.0,  -129.0, 40000.0,      2147483648.0,
      -2147483649.0, 3e9,  5e9,  1e19,  -1e19,   1e300,  inf,    -inf,         65504.0,
      65520.0,       1e-8, 6e-8, 1.5e9, 1.0 / 3, 2049.0, 2051.0, std::nan(""), 1e-45};
  const extents strided{static_cast<std::int64_t>(values.size()) * 2};
  int types = 0;
  for_each_type(all_types{}, [&](auto type) {
    using T = decltype(type);
    if (types++ % 4 != 0 && check::quick()) return;
    std::vector<double> spread(values.size() * 2);
    for (std::size_t k = 0; k < values.size(); ++k) spread[2 * k] = values[k];
    std::vector<std::vector<unsigned char>> bytes;
    for (const usm_kind kind : {usm_kind::shared, usm_kind::device}) {
      const array source = make(kind, strided, spread);
      std::int64_t shift = 0;
      const layout odd = source.elements().layout().sliced(
          0, 0, static_cast<std::int64_t>(values.size()), 2, shift);
      const std::int64_t shape[] = {static_cast<std::int64_t>(values.size())};
      const array target = array::empty(default_queue(), shape, dtype::of<T>(), kind);
      copy(target, source.with_view(source.elements().with_layout(odd, shift)));
      std::vector<unsigned char> raw(values.size() * sizeof(T));
      sycl::queue(default_queue()).memcpy(raw.data(), target.data(), raw.size()).wait();
      // A NaN has many spellings.
      if constexpr (std::is_same_v<T, sycl::half> || std::is_same_v<T, float> || is_complex<T>) {
        std::memset(&raw[(values.size() - 2) * sizeof(T)], 0, sizeof(T));
      }
      bytes.push_back(raw);
    }
    for (std::size_t k = 0; k < values.size(); ++k) {
      if (std::memcmp(&bytes[0][k * sizeof(T)], &bytes[1][k * sizeof(T)], sizeof(T)) != 0) {
        check::fail(__FILE__, __LINE__,
                    dtype::of<T>().name() + " from " + std::to_string(values[k]));
      }
    }
  });
}

TEST(Copy, HalfRoundsToNearestEvenOnce) {
  // The second would become 1.001 by way of float: both roundings would go up.
  std::vector<double> values = {
      1 + 0x1p-11, 1 + 0x1p-11 + 0x1p-30, 1 + 3 * 0x1p-11, 0x1p-25, 0x1.8p-24, -0.0, 65519.99};
  const array source = make(usm_kind::shared, {7}, values);
  const array half = copied(source, default_queue(), dtype::of<sycl::half>(), usm_kind::shared);
  const auto* bits = static_cast<const std::uint16_t*>(half.data());
  const std::uint16_t expected[] = {0x3c00, 0x3c01, 0x3c02, 0x0000, 0x0002, 0x8000, 0x7bff};
  for (std::size_t k = 0; k < 7; ++k) CHECK_EQUAL(bits[k], expected[k]);
}

TEST(Copy, EveryHalfSurvivesTheWayThroughDouble) {
  const std::int64_t shape[] = {65536};
  const array all = array::empty(default_queue(), shape, dtype::of<sycl::half>(), usm_kind::shared);
  auto* bits = static_cast<std::uint16_t*>(all.data());
  for (std::size_t k = 0; k < 65536; ++k) bits[k] = static_cast<std::uint16_t>(k);
  const array wide = copied(all, default_queue(), dtype::of<double>(), usm_kind::shared);
  const array again = copied(wide, default_queue(), dtype::of<sycl::half>(), usm_kind::shared);
  const auto* got = static_cast<const std::uint16_t*>(again.data());
  const auto* as_double = static_cast<const double*>(wide.data());
  for (std::size_t k = 0; k < 65536; ++k) {
    const bool is_nan = (k & 0x7c00) == 0x7c00 && (k & 0x3ff) != 0;
    if (is_nan) {
      CHECK(as_double[k] != as_double[k]);
    } else {
      CHECK_EQUAL(got[k], k);
      CHECK(as_double[k] ==
            static_cast<double>(std::bit_cast<sycl::half>(static_cast<std::uint16_t>(k))));
    }
  }
}

TEST(Copy, AnotherContextIsReachedThroughTheHost) {
  const sycl::device device = default_queue().get_device();
  const sycl::queue other(sycl::context(device), device, sycl::property::queue::in_order());
  for (const usm_kind from : kinds) {
    for (const usm_kind to : kinds) {
      std::vector<float> values(6000);
      for (std::size_t k = 0; k < values.size(); ++k) values[k] = static_cast<float>(k);
      const array a = make(from, {60, 100}, values);
      const int swapped[] = {1, 0};
      const array turned =
          a.with_view(a.elements().with_layout(a.elements().layout().permuted(swapped), 0));
      const array b = copied(turned, other, dtype::of<double>(), to);
      CHECK(b.queue() == other);
      const auto got = host_values<double>(b);
      for (std::size_t k = 0; k < got.size(); ++k) {
        CHECK_EQUAL(got[k], static_cast<double>(values[k % 60 * 100 + k / 60]));
      }
    }
  }
}

TEST(Copy, EmptyArraysAreFineAndShapesMustMatch) {
  for (const usm_kind kind : kinds) {
    const array none = make<float>(kind, {0, 3}, {});
    copy(none, make<double>(kind, {0, 3}, {}));
    CHECK_THROWS(std::invalid_argument, copy(none, make<float>(kind, {3, 0}, {})));
    const array a = make<float>(kind, {2}, {1, 2});
    CHECK_THROWS(std::invalid_argument, copy(a, make<float>(kind, {1}, {1})));
    const array locked = a.with_view(a.elements().as_read_only());
    try {
      copy(locked, a);
      CHECK(false);
    } catch (const interop_error& e) {
      CHECK(e.code() == fault::read_only);
    }
    CHECK(host_values<float>(a) == std::vector<float>({1, 2}));
  }
}

TEST(Copy, RecordsBecomeNothingElse) {
  dtype record;
  CHECK(dtype::parse("|V4", record) == fault::none);
  const std::int64_t shape[] = {2};
  const array a = array::empty(default_queue(), shape, record, usm_kind::device);
  const array b = array::empty(default_queue(), shape, dtype::of<float>(), usm_kind::device);
  CHECK_THROWS(interop_error, copy(a, b));
  CHECK_THROWS(interop_error, copy(b, a));
}

TEST(Fill, EveryElementSizeAndNoGap) {
  std::mt19937 random(5);
  for (const usm_kind kind : kinds) {
    for_each_type(all_types{}, [&](auto type) {
      using T = decltype(type);
      for (const extents& shape : {extents{}, extents{1000}, extents{40, 30}, extents{2, 2, 3}}) {
        const picture p = random_picture(random, shape);
        mirrored<T> a(default_queue(), kind, p.elements, 2);
        const T value = sample<T>(83);
        fill(a.with(p), &value);
        const std::int64_t n = a.with(p).elements().size();
        for (std::int64_t k = 0; k < n; ++k)
          a.known[static_cast<std::size_t>(position(p, k))] = value;
        a.check_against_device();
        fill(a.flat, &value);
        for (std::size_t k = 0; k < a.known.size(); ++k) a.known[k] = value;
        a.check_against_device();
      }
    });
  }
}

TEST(Copy, WaitsForWorkThatWasNamed) {
  const std::int64_t n = 1 << 22;
  for (const usm_kind kind : kinds) {
    const std::int64_t shape[] = {n};
    const array a = array::empty(default_queue(), shape, dtype::of<std::int32_t>(), kind);
    sycl::queue queue = a.queue();
    for (int round = 1; round <= 8; ++round) {
      a.used_on(queue);
      queue.fill(a.data(), round, static_cast<std::size_t>(n));
      const auto got = host_values<std::int32_t>(a);
      CHECK_EQUAL(got.front(), round);
      CHECK_EQUAL(got.back(), round);
    }
  }
}

TEST(Copy, WaitsForTheWholeQueueOfMemoryThatSomebodyElseMade) {
  const std::int64_t n = 1 << 22;
  const std::int64_t shape[] = {n};
  sycl::queue queue = default_queue();
  for (const usm_kind kind : kinds) {
    const array theirs = array::empty(queue, shape, dtype::of<std::int32_t>(), kind);
    const array a = array::adopt(queue, theirs.data(), shape, dtype::of<std::int32_t>(), nullptr);
    for (int round = 1; round <= 8; ++round) {
      queue.fill(theirs.data(), round, static_cast<std::size_t>(n));
      const auto got = host_values<std::int32_t>(a);
      CHECK_EQUAL(got.front(), round);
      CHECK_EQUAL(got.back(), round);
    }
  }
}

TEST(Copy, ManyThreadsAtOnce) {
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      std::mt19937 random(100 + t);
      for (int round = 0; round < (check::quick() ? 5 : 20); ++round) {
        const usm_kind to = kinds[random() % 3];
        const usm_kind from = kinds[random() % 3];
        copy_and_compare<float, float>(random, {20, 9, 3}, to, from);
        copy_and_compare<double, std::int16_t>(random, {9, 5, 4}, to, from);
      }
    });
  }
  for (std::thread& t : threads) t.join();
}
