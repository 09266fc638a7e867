# usmx_link_extension(<target>): links usmx to a Python module that any command has made
# (pybind11_add_module, nanobind_add_module, Python_add_library), and lets it find usmx at run time.
#
# The module may be installed next to the package `usmx` (site-packages/<name>.so) or one folder deeper
# (site-packages/<package>/<name>.so): both ways to usmx/lib and to the environment's lib are recorded.
# Anywhere else, `import usmx` before the module is loaded does the same.
function(usmx_link_extension target)
  target_link_libraries(${target} PRIVATE usmx::usmx)
  set_property(TARGET ${target} APPEND PROPERTY INSTALL_RPATH
    "$ORIGIN/usmx/lib" "$ORIGIN/../usmx/lib"   # libusmx
    "$ORIGIN/../.." "$ORIGIN/../../..")        # libsycl: <environment>/lib
endfunction()

# usmx_add_extension(<name> <source>...): a nanobind module that links usmx.
function(usmx_add_extension name)
  if(NOT TARGET Python::Module)
    find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module)
  endif()
  if(NOT COMMAND nanobind_add_module)
    execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir
                    OUTPUT_STRIP_TRAILING_WHITESPACE OUTPUT_VARIABLE nanobind_ROOT ERROR_QUIET)
    find_package(nanobind CONFIG QUIET)
    if(NOT nanobind_FOUND)
      message(FATAL_ERROR "usmx_add_extension: ${Python_EXECUTABLE} has no nanobind; install it there: pip install nanobind")
    endif()
  endif()
  nanobind_add_module(${name} NB_STATIC ${ARGN})
  usmx_link_extension(${name})
endfunction()
