// SPDX-License-Identifier: Apache-2.0
#include "nvidia/stream.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include <sycl/backend.hpp>

#include "runtime/backend.hpp"
#include "runtime/cuda_driver.hpp"

namespace usmx::detail::nvidia {
namespace {

bool is_cuda(const sycl::queue& queue) { return backend_of(queue).api == driver_api::cuda; }

constexpr std::size_t most_queues = 8, most_plans = 64;

}  // namespace

void in_context(const sycl::queue& queue, const std::function<void()>& calls) {
  std::optional<inside_primary_context> inside;
  if (is_cuda(queue)) {
    inside.emplace(sycl::get_native<sycl::backend::ext_oneapi_cuda>(queue.get_device()),
                   cuda_driver::loaded());
  }
  calls();
}

std::shared_ptr<handles> handles::of(const sycl::queue& queue) {
  static std::mutex guard;
  static auto& kept =
      *new std::list<std::shared_ptr<handles>>;  // leaked: at exit there is no driver
  std::shared_ptr<handles> left_out;             // ends without the lock
  const std::lock_guard lock(guard);
  const auto found =
      std::ranges::find_if(kept, [&](const auto& one) { return one->queue_ == queue; });
  if (found != kept.end()) {
    kept.splice(kept.begin(), kept, found);
  } else {
    kept.push_front(std::make_shared<handles>(queue));
    if (kept.size() > most_queues) {
      left_out = std::move(kept.back());
      kept.pop_back();
    }
  }
  return kept.front();
}

handles::~handles() {
  try {
    in_context(queue_, [&] {
      for (const kept_plan& one : plans_) transforms().destroy(one.made);
      if (jacobi_ != nullptr) nvidia::solver().destroy_jacobi(jacobi_);
      if (solver_ != nullptr) nvidia::solver().destroy(solver_);
      if (blas_ != nullptr) nvidia::blas().destroy(blas_);
    });
  } catch (...) {  // the driver is gone, and they are with it
  }
}

handle handles::blas() {
  if (blas_ == nullptr) {
    in_context(queue_,
               [&] { check(library::blas, nvidia::blas().create(&blas_), "cublasCreate"); });
  }
  return blas_;
}

handle handles::solver() {
  if (solver_ == nullptr) {
    in_context(queue_, [&] {
      check(library::solver, nvidia::solver().create(&solver_), "cusolverDnCreate");
    });
  }
  return solver_;
}

handle handles::jacobi() {
  if (jacobi_ == nullptr) {
    check(library::solver, nvidia::solver().create_jacobi(&jacobi_), "cusolverDnCreateGesvdjInfo");
  }
  return jacobi_;
}

handle handles::on(library which, stream to) {
  const bool is_blas = which == library::blas;
  const handle made = is_blas ? blas() : solver();
  check(which, (is_blas ? nvidia::blas().set_stream : nvidia::solver().set_stream)(made, to),
        is_blas ? "cublasSetStream" : "cusolverDnSetStream");
  return made;
}

kept_plan handles::plan_of(const transform_form& form) {
  const auto found =
      std::ranges::find_if(plans_, [&](const kept_plan& one) { return one.form == form; });
  if (found != plans_.end()) {
    plans_.splice(plans_.begin(), plans_, found);
    return plans_.front();
  }
  const auto& f = transforms();
  kept_plan made{form, 0, 0};
  in_context(queue_, [&] {
    check(library::transforms, f.create(&made.made), "cufftCreate");
    try {
      check(library::transforms, f.set_own_memory(made.made, 0), "cufftSetAutoAllocation");
      long long n = form.n, from = form.from, to = form.to;
      const bool is_strided = form.inner != 1;
      check(library::transforms,
            f.make(made.made, 1, &n, &from, form.inner, is_strided ? 1 : form.from, &to, form.inner,
                   is_strided ? 1 : form.to, form.type, form.count, &made.bytes),
            "cufftMakePlanMany64");
    } catch (...) {
      f.destroy(made.made);
      throw;
    }
  });
  plans_.push_front(made);
  if (plans_.size() > most_plans) {
    in_context(queue_, [&] { f.destroy(plans_.back().made); });
    plans_.pop_back();
  }
  return made;
}

}  // namespace usmx::detail::nvidia
