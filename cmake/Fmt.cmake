# Finds {fmt} and makes the target usmx_fmt of its headers; no library of it is linked. Two sources:
#   1. FMT_INCLUDE_DIR, or the system's own (Debian: libfmt-dev, from version 11 on);
#   2. the wheel `cmeel-fmt` in the environment of the Python at hand.
if(Python_EXECUTABLE)
  execute_process(
    COMMAND ${Python_EXECUTABLE} -c "
import importlib.metadata as m
d = m.distribution('cmeel-fmt')
p = next(f for f in d.files if str(f).endswith('include/fmt/base.h'))
print(d.locate_file(p).resolve().parents[1])"
    OUTPUT_VARIABLE _fmt_wheel OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()

find_path(FMT_INCLUDE_DIR fmt/base.h HINTS ${_fmt_wheel})
mark_as_advanced(FMT_INCLUDE_DIR)
if(NOT FMT_INCLUDE_DIR)
  message(FATAL_ERROR "No {fmt} found. Install it with `pip install cmeel-fmt`, "
                      "or set FMT_INCLUDE_DIR to the folder that has fmt/base.h.")
endif()
if(NOT TARGET usmx_fmt)
  add_library(usmx_fmt INTERFACE)
  target_include_directories(usmx_fmt SYSTEM INTERFACE ${FMT_INCLUDE_DIR})
endif()
