// The example of usmx/dlpack.hpp in the reference.
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include <usmx/dlpack.hpp>

#include "check.hpp"

namespace {

/// What describes memory of another library: a tensor, and who is told when it is over.
struct borrowed {
  float numbers[6] = {};
  std::int64_t shape[2] = {2, 3};
  bool is_over = false;
};

}  // namespace

TEST(Dlpack, Reference) {
  namespace dlpack = usmx::dlpack;
  borrowed memory;
  dlpack::data_type type;
  CHECK(dlpack::describe_type(usmx::dtype::of<float>(), type));
  CHECK(type.code == dlpack::type_code::floating && type.bits == 32);
  dlpack::versioned_tensor given{};
  given.version = dlpack::supported;
  given.flags = dlpack::read_only_flag;  // or copied_flag
  given.context = &memory;
  given.deleter = [](dlpack::versioned_tensor* t) {
    static_cast<borrowed*>(t->context)->is_over = true;
  };
  given.elements = {.data = memory.numbers,
                    .where = dlpack::device{dlpack::device_type::cpu, 0},
                    .rank = 2,
                    .type = type,
                    .shape = memory.shape,
                    .strides = nullptr,
                    .byte_offset = 0};

  // What a receiver does: another major version has another form, then the fields are checked.
  const dlpack::version& version = given.version;
  CHECK(version.major == dlpack::supported.major);
  const dlpack::tensor& tensor = given.elements;
  usmx::any_view view;
  const usmx::fault found =
      dlpack::check(tensor, (given.flags & dlpack::read_only_flag) != 0, view);
  CHECK(found == usmx::fault::none && view.size() == 6 && view.read_only());
  CHECK((given.flags & dlpack::copied_flag) == 0);
  given.deleter(&given);
  CHECK(memory.is_over);

  // A sentence for what is wrong.
  memory.shape[0] = -2;
  std::printf("%s\n", dlpack::describe(tensor, dlpack::check(tensor, false, view)).c_str());

  // The form before version 1 has neither version nor flags.
  dlpack::managed_tensor old{.elements = tensor, .context = nullptr, .deleter = nullptr};
  CHECK(dlpack::check(old.elements, false, view) == usmx::fault::shape_negative);

  // What a type offers to C, so that no object of Python is made.
  dlpack::exchange_table table{};
  table.header = dlpack::exchange_header{.version = dlpack::supported, .previous = nullptr};
  CHECK(table.from_object == nullptr);
}
