// Copies that hold no thread, in the form that devices of CUDA need.
// SPDX-License-Identifier: Apache-2.0
#include "transfer/in_turn.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <thread>
#include <vector>

#include <sycl/properties/queue_properties.hpp>

#include "check.hpp"
#include "core/format.hpp"
#include "runtime/native_command.hpp"
#include "transfer/staging.hpp"
#include "transfer/temporaries.hpp"
#include "usmx/copy.hpp"
#include "usmx/runtime.hpp"

namespace usmx::detail {
namespace {

constexpr std::int64_t length = 5000;

/// Blocks of 4 000 bytes, so that there are several parts.
struct small_blocks {
  small_blocks() { set_staging(staging_limits{.from = 1, .block = 4000, .blocks = 2}); }
  small_blocks(const small_blocks&) = delete;
  small_blocks& operator=(const small_blocks&) = delete;
  ~small_blocks() { set_staging({}); }
};

std::vector<std::int32_t> numbers(std::int32_t first = 0) {
  std::vector<std::int32_t> made(length);
  std::iota(made.begin(), made.end(), first);
  return made;
}

template <class T>
any_view over(std::vector<T>& values, std::int64_t count = length, std::int64_t step = 1) {
  layout where;
  require_valid(layout::strided({count}, {step}, sizeof(T), where));
  return view_of(values.data(), dtype::of<T>(), std::move(where), usm_kind::unknown);
}

array on_device(const sycl::queue& queue, std::vector<std::int32_t> values) {
  const std::int64_t shape[] = {static_cast<std::int64_t>(values.size())};
  array made = array::empty(queue, shape, dtype::of<std::int32_t>(), usm_kind::device);
  copy_from_host(made, over(values, shape[0]));
  return made;
}

/// Behind a step that waits until it is let go.
template <class Submit>
sycl::event behind_a_gate(sycl::queue& queue, Submit submit) {
  std::atomic<bool> open = false;
  command_chain chain(queue, false);
  chain.after(call_in_turn(queue, {}, [&] {
    while (!open) std::this_thread::yield();
  }));
  const sycl::event last = run(chain, submit);
  CHECK(!is_done(last));  // the host came here, and nothing is copied yet
  open = true;
  wait(last, queue);
  return last;
}

TEST(InTurn, CopiesToTheHostInPartsOfAnyLayoutAndType) {
  const small_blocks blocks;
  for (const bool in_order : {true, false}) {
    sycl::queue queue =
        in_order ? sycl::queue(default_queue().get_context(), default_queue().get_device(),
                               sycl::property::queue::in_order())
                 : sycl::queue(default_queue().get_context(), default_queue().get_device());
    const array from = on_device(queue, numbers());
    std::vector<std::int32_t> plain(length, -1);
    behind_a_gate(queue, [&](command_chain& c) {
      c.uses(from);
      CHECK(copy_in_turn(c, over(plain), from.elements(), true));
    });
    CHECK(plain == numbers());
    std::vector<double> wide(3 * length, -1);
    behind_a_gate(queue, [&](command_chain& c) {
      c.uses(from);
      CHECK(copy_in_turn(c, over(wide, length, 3), from.elements(), true));
    });
    for (std::size_t k = 0; k < wide.size(); ++k) {
      CHECK_EQUAL(wide[k], k % 3 == 0 ? static_cast<double>(k / 3) : -1.0);
    }
  }
}

TEST(InTurn, ReadsTheHostWhenItsTurnComes) {
  const small_blocks blocks;
  sycl::queue queue = default_queue();
  const array to = on_device(queue, numbers(7));
  std::vector<std::int32_t> given(length, -1), back(length, 0);
  std::atomic<bool> open = false;
  command_chain chain(queue, false);
  chain.after(call_in_turn(queue, {}, [&] {
    while (!open) std::this_thread::yield();
  }));
  chain.uses(to);
  const sycl::event last = run(
      chain, [&](command_chain& c) { CHECK(copy_in_turn(c, to.elements(), over(given), false)); });
  std::ranges::copy(numbers(3), given.begin());
  open = true;
  wait(last, queue);
  copy_to_host(over(back), to);
  CHECK(back == numbers(3));
}

TEST(InTurn, LeavesStridedElementsOfTheDeviceToOthers) {
  sycl::queue queue = default_queue();
  const array whole = on_device(queue, numbers());
  const any_view half = whole.elements().sliced(0, 0, length / 2, 2);
  std::vector<std::int32_t> there(length / 2, -1);
  command_chain chain(queue, false);
  CHECK(!copy_in_turn(chain, over(there, length / 2), half, true));
  CHECK(!copy_in_turn(chain, half, over(there, length / 2), false));
  CHECK(there == std::vector<std::int32_t>(length / 2, -1));
}

TEST(InTurn, CopiesBetweenMemoryOfTheHost) {
  sycl::queue queue = default_queue();
  std::vector<std::int32_t> from = numbers(), to(length, -1);
  behind_a_gate(queue, [&](command_chain& c) { on_host_in_turn(c, over(to), over(from)); });
  CHECK(to == from);
}

TEST(InTurn, OnlyWhereTheDriverHoldsTheHostAndNobodyWaits) {
  sycl::queue queue = default_queue();
  const bool holds = backend_of(queue).copies_hold_host;
  command_chain nobody_waits(queue, false), somebody_waits(queue, true);
  CHECK_EQUAL(goes_in_turn(nobody_waits), holds);
  CHECK(!goes_in_turn(somebody_waits));
  CHECK(backend_row_of(sycl::backend::ext_oneapi_cuda).copies_hold_host);
}

}  // namespace
}  // namespace usmx::detail
