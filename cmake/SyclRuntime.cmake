# Finds headers and libsycl and makes the target sycl::runtime of them. Two sources, in this order:
#   1. USMX_SYCL_PREFIX, or a DPC++ installation (CMPLR_ROOT, the prefix of a SYCL compiler);
#   2. the wheel `intel-sycl-rt` in the environment of the Python at hand.
set(USMX_SYCL_PREFIX "" CACHE PATH "Folder with include/sycl and lib/libsycl.so")

set(_sycl_hints ${USMX_SYCL_PREFIX} $ENV{CMPLR_ROOT})
if(Python_EXECUTABLE)
  # The wheel puts its files outside of site-packages; only its own record knows where exactly.
  execute_process(
    COMMAND ${Python_EXECUTABLE} -c "
import importlib.metadata as m
d = m.distribution('intel-sycl-rt')
p = next(f for f in d.files if str(f).endswith('include/sycl/version.hpp'))
print(d.locate_file(p).resolve().parents[2])"
    OUTPUT_VARIABLE _sycl_wheel OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  list(APPEND _sycl_hints ${_sycl_wheel})
endif()

find_path(SYCL_INCLUDE_DIR sycl/version.hpp HINTS ${_sycl_hints} PATH_SUFFIXES include)
find_library(SYCL_LIBRARY sycl HINTS ${_sycl_hints} PATH_SUFFIXES lib)
mark_as_advanced(SYCL_INCLUDE_DIR SYCL_LIBRARY)
if(NOT SYCL_INCLUDE_DIR OR NOT SYCL_LIBRARY)
  message(FATAL_ERROR "No SYCL runtime found. Install it with `pip install intel-sycl-rt`, "
                      "or set USMX_SYCL_PREFIX to a DPC++ installation.")
endif()
message(STATUS "SYCL runtime: ${SYCL_LIBRARY}")

if(NOT TARGET sycl::runtime)
  add_library(sycl::runtime UNKNOWN IMPORTED)
  set_target_properties(sycl::runtime PROPERTIES IMPORTED_LOCATION ${SYCL_LIBRARY})
  target_include_directories(sycl::runtime SYSTEM INTERFACE ${SYCL_INCLUDE_DIR})
  target_compile_definitions(sycl::runtime INTERFACE SYCL_DISABLE_FSYCL_SYCLHPP_WARNING)
endif()
