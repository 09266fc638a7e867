// The example of usmx/memory.hpp in the reference.
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <memory>

#include <usmx/memory.hpp>
#include <usmx/memory_resource.hpp>
#include <usmx/runtime.hpp>
#include <usmx/wait.hpp>

#include "check.hpp"

TEST(Memory, Reference) {
  sycl::queue queue = usmx::default_queue();

  // Memory that lives until its last reference and its last command have ended.
  const usmx::shared_owner memory = usmx::allocate(queue, usmx::usm_kind::shared, 1000);
  CHECK(memory->bytes() == 1000 && !memory->is_lent());

  // A command of one's own says so; `submission` does all of that.
  memory->used_on(queue);
  memory->used_until(queue, queue.memset(memory->base(), 0, memory->bytes()));
  memory->wait();
  CHECK(!memory->busy());

  // While the host looks at it, commands on it are waited for where they are submitted.
  usmx::host_access view(memory);
  CHECK(memory->is_seen_by_host());
  view.end();

  // From a resource that is chosen, or without waiting, for callers with a lock.
  const auto resource = usmx::default_resource(queue, usmx::usm_kind::device);
  const auto other = usmx::allocate(resource, 1000);
  const auto quick = usmx::try_allocate(resource, 1000);  // null: `allocate` has to be called

  // Memory of others, with what frees it; or an owner of another kind.
  bool freed = false;
  {
    const auto theirs =
        usmx::adopt(std::malloc(64), 64, [&](void* p) { std::free(p), freed = true; });
    CHECK(theirs->is_lent());
    // Before the address leaves to code that may bring it back.
    usmx::address_leaves(theirs);
    const auto back = usmx::adopt(theirs->base(), 64, [](void*) {});
    CHECK(usmx::came_back(back) && usmx::kept_by(back) != theirs.get());
  }
  class static_memory final : public usmx::owner {
   public:
    using owner::owner;
    void release() noexcept override {}
  };
  static std::byte bytes[64];
  const usmx::shared_owner fixed = usmx::own(std::make_unique<static_memory>(bytes, 64));

  // What was dropped while commands used it is freed by later calls; at once with these.
  usmx::call_when_put_aside(nullptr);
  CHECK(usmx::collect() < 1000);
  usmx::drain();
  CHECK(freed);
}

TEST(Memory, ReferenceOfDeferredUses) {
  // Something that submits its commands when the memory is used otherwise, and not before.
  class later final : public usmx::deferred_use {
   public:
    void compute() noexcept override { is_done = true; }
    bool is_done = false;
  };
  const auto memory = usmx::allocate(usmx::default_queue(), usmx::usm_kind::device, 64);
  const auto use = std::make_shared<later>();
  memory->used_later(use);
  memory->wait();
  CHECK(use->is_done);
}
