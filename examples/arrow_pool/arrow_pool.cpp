// A memory pool of Arrow on the pools of usmx: what Arrow computes is USM. Arrow's C++ interface
// belongs to one version of pyarrow, so this is compiled where it is used:
//
//   python examples/arrow_pool/build.py && python -c "import arrow_pool; print(arrow_pool.make())"
// SPDX-License-Identifier: Apache-2.0
#include <Python.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include <arrow/memory_pool.h>
#include <arrow/status.h>

#include <usmx/memory_resource.hpp>
#include <usmx/runtime.hpp>

namespace {

class usm_pool final : public arrow::MemoryPool {
 public:
  explicit usm_pool(std::shared_ptr<usmx::memory_resource> resource)
      : resource_(std::move(resource)) {}

  arrow::Status Allocate(std::int64_t size, std::int64_t alignment, std::uint8_t** out) override {
    if (size < 0) return arrow::Status::Invalid("negative malloc size");
    if (size == 0) {
      *out = nothing_;
      return arrow::Status::OK();
    }
    try {
      *out = static_cast<std::uint8_t*>(
          resource_->allocate(static_cast<std::size_t>(size), static_cast<std::size_t>(alignment)));
    } catch (const std::exception& e) {
      return arrow::Status::OutOfMemory(e.what());
    }
    count(size);
    total_ += size;
    ++allocations_;
    return arrow::Status::OK();
  }

  arrow::Status Reallocate(std::int64_t old_size, std::int64_t new_size, std::int64_t alignment,
                           std::uint8_t** p) override {
    std::uint8_t* moved = nullptr;
    ARROW_RETURN_NOT_OK(Allocate(new_size, alignment, &moved));
    std::memcpy(moved, *p, static_cast<std::size_t>(std::min(old_size, new_size)));
    Free(*p, old_size, alignment);
    *p = moved;
    return arrow::Status::OK();
  }

  void Free(std::uint8_t* p, std::int64_t size, std::int64_t alignment) override {
    if (p == nothing_) return;
    resource_->deallocate(p, static_cast<std::size_t>(size), static_cast<std::size_t>(alignment));
    count(-size);
  }

  std::int64_t bytes_allocated() const override { return now_; }
  std::int64_t max_memory() const override { return peak_; }
  std::int64_t total_bytes_allocated() const override { return total_; }
  std::int64_t num_allocations() const override { return allocations_; }
  std::string backend_name() const override { return "usmx"; }

 private:
  void count(std::int64_t change) {
    const std::int64_t now = now_ += change;
    std::int64_t peak = peak_;
    while (now > peak && !peak_.compare_exchange_weak(peak, now)) {
    }
  }

  alignas(64) std::uint8_t nothing_[64]{};  // where blocks of no bytes are
  std::shared_ptr<usmx::memory_resource> resource_;
  std::atomic<std::int64_t> now_{0};
  std::atomic<std::int64_t> peak_{0};
  std::atomic<std::int64_t> total_{0};
  std::atomic<std::int64_t> allocations_{0};
};

/// `make(kind="shared")`: a pyarrow.MemoryPool, which lives as long as the process.
PyObject* make(PyObject*, PyObject* args) {
  const char* kind = "shared";
  if (PyArg_ParseTuple(args, "|s", &kind) == 0) return nullptr;
  if (std::strcmp(kind, "shared") != 0 && std::strcmp(kind, "host") != 0) {
    return PyErr_Format(PyExc_ValueError,
                        "kind: '%s' is not supported; expected 'shared' or 'host'", kind);
  }
  // pyarrow offers the function that wraps a pool to Cython, in a capsule.
  PyObject* const lib = PyImport_ImportModule("pyarrow.lib");
  if (lib == nullptr) return nullptr;
  PyObject* const functions = PyObject_GetAttrString(lib, "__pyx_capi__");
  Py_DECREF(lib);
  if (functions == nullptr) return nullptr;
  PyObject* const capsule = PyMapping_GetItemString(functions, "box_memory_pool");
  Py_DECREF(functions);
  if (capsule == nullptr) return nullptr;
  auto* const box = reinterpret_cast<PyObject* (*)(arrow::MemoryPool*)>(
      PyCapsule_GetPointer(capsule, PyCapsule_GetName(capsule)));
  Py_DECREF(capsule);
  if (box == nullptr) return nullptr;
  try {
    const auto usm = std::strcmp(kind, "host") == 0 ? usmx::usm_kind::host : usmx::usm_kind::shared;
    return box(new usm_pool(usmx::default_resource(usmx::default_queue(), usm)));
  } catch (const std::exception& e) {
    return PyErr_Format(PyExc_RuntimeError, "%s", e.what());
  }
}

PyMethodDef methods[] = {{"make", make, METH_VARARGS, "A pyarrow.MemoryPool on usmx's pool."},
                         {nullptr, nullptr, 0, nullptr}};
PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "arrow_pool", nullptr, 0, methods, nullptr, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit_arrow_pool() { return PyModule_Create(&module); }
