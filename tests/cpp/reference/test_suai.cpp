// The example of usmx/suai.hpp in the reference.
// SPDX-License-Identifier: Apache-2.0
#include <usmx/suai.hpp>

#include "check.hpp"

TEST(Suai, Reference) {
  // The values of a dictionary of another library, and the view that they describe.
  float numbers[6] = {};
  usmx::suai::fields fields;
  fields.typestr = "<f4";
  fields.shape = {2, 3};
  fields.data = reinterpret_cast<std::uintptr_t>(numbers);
  usmx::any_view view;
  CHECK(usmx::suai::check(fields, view) == usmx::fault::none);
  CHECK(view.data() == numbers && view.size() == 6);

  // What is wrong with it, as a sentence.
  fields.strides = usmx::extents{1};
  const usmx::fault found = usmx::suai::check(fields, view);
  CHECK(found == usmx::fault::strides_rank);
  CHECK(usmx::suai::describe(fields, found) ==
        "strides: (1,) must have one stride for each dimension of shape (2, 3)");

  // The other way: the dictionary of an array of ours, of the attribute's only version.
  const usmx::suai::fields said = usmx::suai::describe_view(view);
  CHECK(said.typestr == "<f4" && said.version == usmx::suai::version);
  std::printf("%s\n", usmx::suai::attribute);
}
