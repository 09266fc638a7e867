// The module `usmx._usmx`: only the order in which its parts are bound.
// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include "expression/expression_arguments.hpp"
#include "support/bindings.hpp"
#include "support/signatures.hpp"
#include "support/slot_errors.hpp"
#include "usmx/version.hpp"

namespace usmx::python {
void bind_testing(nb::module_& m);  // bind_testing.cpp: for the tests of the package
}

NB_MODULE(_usmx_of_main_interpreter, m) {
  using namespace usmx::python;
  // A producer that can reach an array of its own memory may outlive the last collection, through
  // other libraries' objects that the collector cannot see into. Users cannot act on that at exit.
  nb::set_leak_warnings(std::getenv("USMX_LEAK_WARNINGS") != nullptr);
  m.attr("__version__") = usmx::version;
  bind_errors(m);
  bind_slot_errors(m);
  bind_runtime(m);
  bind_memory(m);
  bind_resources(m);
  bind_array(m);
  bind_protocols(m);
  bind_kernel_limits(m);
  bind_kernel(m);
  bind_trace(m);
  bind_program_cache(m);
  bind_kernel_dispatch(m);
  bind_promotion(m);
  bind_elementwise(m);
  bind_fused(m);
  bind_reduction(m);
  bind_scan(m);
  bind_transfers(m);
  bind_python_api(m);
  bind_testing(m);
  bind_signatures(m);
}

/// Looks before nanobind does anything: what it keeps for the process would become that of the
/// second interpreter, and the first one's objects would end in a crash.
extern "C" NB_EXPORT PyObject* PyInit__usmx() {
  if (PyInterpreterState_Get() != PyInterpreterState_Main()) {
    PyErr_SetString(PyExc_ImportError,
                    "usmx: this is not the process's main interpreter, the only supported one; "
                    "start a process of its own (multiprocessing with 'spawn' or 'forkserver')");
    return nullptr;
  }
  return PyInit__usmx_of_main_interpreter();
}
