// The example of usmx/operations.hpp in the reference.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <vector>

#include <usmx/operations.hpp>
#include <usmx/runtime.hpp>
#include <usmx/typed_array.hpp>

#include "check.hpp"

TEST(Operations, Reference) {
  const sycl::queue queue = usmx::default_queue();
  const auto x = usmx::from_host<float>(queue, std::vector{1.F, 2.F, 3.F, 4.F});

  // A row of the table, its types, and its result, which is computed when it is needed.
  const usmx::operation& add = *usmx::find_operation("add");
  const std::array<usmx::operand_type, 2> types{
      {{usmx::dtype::of<float>(), false}, {usmx::dtype::of<std::int64_t>(), true}}};
  const usmx::operation_types of_call = *usmx::resolve(add, types);
  CHECK(of_call.result == usmx::dtype::of<float>());
  const std::array<usmx::deferred_operand, 2> operands{usmx::operand(x), usmx::operand(1)};
  const usmx::shared_deferred y = usmx::apply(queue, add, operands);
  usmx::deferred& value = *y;
  CHECK(value.shape() == usmx::extents{4});
  value.seen(true);  // it is kept when others are computed from it

  // Others from it: a cast, a part, a reduction; and what that would run.
  const usmx::shared_deferred whole = usmx::cast(queue, y, usmx::dtype::of<int>());
  const usmx::view_step last{.axis = 0, .first = 2, .count = 2, .step = 1};
  const usmx::shared_deferred part = usmx::view_of(y, {last});
  const usmx::shared_deferred total = usmx::reduce(queue, y, usmx::named_reduction::sum);
  const std::array steps{last};
  CHECK(usmx::stepped(x.elements(), steps).size() == 2);
  for (const usmx::planned_kernel& kernel : usmx::explain(total)) {
    std::printf("%s: %d operations\n", kernel.text.c_str(), kernel.operations);
  }
  CHECK(usmx::item<float>(total->get()) == 14);
  CHECK(usmx::to_vector<int>(whole->get()) == std::vector({2, 3, 4, 5}));
  CHECK(usmx::to_vector<float>(part->get()) == std::vector({4.F, 5.F}));

  // A reduction that has no name.
  const usmx::value_reduction squares{.value = usmx::dtype::of<float>(),
                                      .result = usmx::dtype::of<float>(),
                                      .map = "x * x",
                                      .reduce = "a + b",
                                      .identity = "0"};
  CHECK(usmx::item<float>(usmx::reduce(queue, usmx::operand(x), squares)->get()) == 30);

  // Into elements that are there, which may be those of an operand.
  usmx::store(usmx::compose(queue, add, operands), x);
  CHECK(usmx::to_vector<float>(x)[0] == 2);

  // Numbers that count up need no memory before something is made of them.
  const usmx::shared_deferred odd = usmx::count_up(queue, 1, 2, 4, usmx::usm_kind::device);
  usmx::settle(odd);
  CHECK(usmx::to_vector<int>(odd->get()) == std::vector({1, 3, 5, 7}));

  // In this thread, each where it is written.
  usmx::set_eager(true);
  const usmx::shared_deferred now = usmx::apply(queue, add, operands);
  CHECK(usmx::is_eager() && now->is_computed());
  usmx::set_eager(false);
  CHECK(usmx::to_vector<float>(now->get())[0] == 3);
}
