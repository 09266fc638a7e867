// The table of numbers and the code that is chosen by it, and casts between its types.
// SPDX-License-Identifier: Apache-2.0
#include "core/numbers.hpp"

#include <array>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>

#include "check.hpp"
#include "core/cast.hpp"

using namespace usmx::detail;
using usmx::dtype;
using usmx::fault;
using usmx::type_class;

namespace {

dtype record_of(std::string_view typestr) {
  dtype type;
  CHECK_EQUAL(dtype::parse(typestr, type), fault::none);
  return type;
}

template <class To, class From>
To cast(From x) {
  To out;
  row_cast(dtype::of<To>(), dtype::of<From>())(&out, &x);
  return out;
}

template <class T>
void each_row(T check) {
  for (std::size_t k = 0; k < number_rows.size(); ++k) check(static_cast<int>(k), number_rows[k]);
}

}  // namespace

TEST(Numbers, EachRowIsTheTypeThatItIsFoundBy) {
  each_row([](int k, const number_row& row) {
    const dtype type = type_of_row(k);
    CHECK_EQUAL(number_row_index(type), k);
    CHECK(number_row_of(type) == &row);
    CHECK(type.kind() == row.kind);
    CHECK_EQUAL(type.itemsize(), std::size_t{row.itemsize});
    CHECK(type.name() == row.name);
  });
}

TEST(Numbers, TypesAreReadFromWhatProtocolsSayOfThem) {
  each_row([](int k, const number_row& row) {
    const dtype type = type_of_row(k);
    dtype read;
    if (row.is_described) {
      CHECK_EQUAL(dtype::make_record(*type.description(), row.itemsize, read), fault::none);
    } else {
      CHECK(type.description() == nullptr);
      CHECK_EQUAL(dtype::parse(type.typestr(), read), fault::none);
    }
    CHECK(read == type);
  });
}

TEST(Numbers, RecordsAreInNoRow) {
  CHECK_EQUAL(number_row_index(record_of("|V4")), -1);
  CHECK(number_row_of(record_of("|V1")) == nullptr);
}

TEST(Numbers, CodeIsThatOfTheType) {
  each_row([](int k, const number_row& row) {
    const std::size_t size =
        visit_number(type_of_row(k), []<class T>(std::type_identity<T>) -> std::size_t {
          CHECK(dtype::of<T>().name() == number_row_of(dtype::of<T>())->name);
          return sizeof(T);
        });
    CHECK_EQUAL(size, std::size_t{row.itemsize});
  });
}

TEST(Numbers, TypesThatAConstraintLeavesOutHaveNoCodeAndTheAnswerForOthers) {
  const auto bits = [](const dtype& type) {
    return visit_number(
        type,
        // Of complex numbers and of halves it would not compile.
        []<std::integral T>(std::type_identity<T>) {
          return std::numeric_limits<T>::digits + static_cast<int>(T(0) % T(1));
        },
        [] { return -1; });
  };
  CHECK_EQUAL(bits(dtype::of<std::int8_t>()), 7);
  CHECK_EQUAL(bits(dtype::of<std::uint32_t>()), 32);
  CHECK_EQUAL(bits(dtype::of<std::complex<float>>()), -1);
  CHECK_EQUAL(bits(dtype::of<usmx::bfloat16>()), -1);
  CHECK_EQUAL(bits(record_of("|V8")), -1);
}

TEST(Numbers, WithoutAnAnswerForOthersTheResultIsEmpty) {
  const auto name = []<class T>(std::type_identity<T>) { return std::string("known"); };
  CHECK(visit_number(dtype::of<float>(), name) == "known");
  CHECK(visit_number(record_of("|V8"), name).empty());
}

TEST(Numbers, WordsHaveThatManyBytes) {
  for (const std::size_t bytes : {1, 2, 4, 8, 16}) {
    CHECK_EQUAL(visit_word(bytes, []<class T>(std::type_identity<T>) { return sizeof(T); }), bytes);
  }
  for (const std::size_t bytes : {0, 3, 12, 24, 32}) {
    CHECK_EQUAL(visit_word(bytes, []<class T>(std::type_identity<T>) { return sizeof(T); }),
                std::size_t{0});
  }
}

TEST(Cast, IsExactOrRoundsOnce) {
  CHECK_EQUAL(cast<float>(std::int16_t{-300}), -300.0f);
  CHECK_EQUAL(cast<std::uint8_t>(std::int64_t{300}), std::uint8_t{44});
  CHECK_EQUAL(cast<std::int32_t>(-2.9), -2);
  CHECK_EQUAL(cast<std::int32_t>(1e300), std::numeric_limits<std::int32_t>::min());
  CHECK_EQUAL(cast<double>(std::numeric_limits<std::uint64_t>::max()), 0x1p64);
  CHECK_EQUAL(cast<bool>(0.5), true);
  CHECK_EQUAL(cast<float>(std::complex<double>(2, 3)), 2.0f);
  // A float on the way would be a tie, and round to the even one.
  CHECK_EQUAL(int(cast<usmx::bfloat16>(0x1.010000001p0).bits), 0x3f81);
  CHECK_EQUAL(int(cast<usmx::bfloat16>((std::int64_t{0x101} << 40) + 1).bits), 0x5781);
  CHECK_EQUAL(int(cast<half_bits>(0x1.002000001p0)), 0x3c01);
}

TEST(Cast, ElementsNeedNotBeAlignedAndLieAnywhere) {
  std::array<std::byte, 64> from{}, to{};
  for (int k = 0; k < 3; ++k) {
    const std::int32_t value = 7 * k - 1;
    std::memcpy(from.data() + 1 + 5 * k, &value, sizeof value);
  }
  row_cast(dtype::of<double>(), dtype::of<std::int32_t>())(to.data() + 3 + 2 * 9, -9,
                                                           from.data() + 1, 5, 3);
  for (int k = 0; k < 3; ++k) {
    double value = 0;
    std::memcpy(&value, to.data() + 3 + 9 * (2 - k), sizeof value);
    CHECK_EQUAL(value, 7.0 * k - 1);
  }
}
