// Environment, faults and the list of defects of the simulated device.
// SPDX-License-Identifier: Apache-2.0
#include "settings.hpp"

#include <array>
#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace simulated {
namespace {

struct fault_point {
  const char* name;
  cl_int error;
  std::atomic<long> calls{0};
  std::atomic<long> nth{0};
  std::atomic<bool> onwards{false};
};

// The errors that this driver gives when the real thing happens. Never destroyed: the runtime still
// calls while the process ends.
auto& points = *new std::array<fault_point, call_kinds>{{
    {"alloc_device", CL_OUT_OF_RESOURCES},
    {"alloc_host", CL_OUT_OF_RESOURCES},
    {"alloc_shared", CL_OUT_OF_RESOURCES},
    {"memcpy", CL_OUT_OF_RESOURCES},
    {"fill", CL_OUT_OF_RESOURCES},
    {"kernel", CL_OUT_OF_RESOURCES},
    {"build", CL_BUILD_PROGRAM_FAILURE},
    {"wait", CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST},
    {"marker", CL_OUT_OF_RESOURCES},
    {"queue", CL_OUT_OF_HOST_MEMORY},
    {"info", CL_OUT_OF_HOST_MEMORY},
    {"lost", CL_DEVICE_NOT_AVAILABLE},
}};

std::atomic<long> defect_count{0};

fault_point* find(std::string_view kind) noexcept {
  for (auto& point : points) {
    if (kind == point.name) return &point;
  }
  return nullptr;
}

template <class Use>
void each_word(const char* list, Use use) {
  std::string_view rest = list ? list : "";
  while (!rest.empty()) {
    const auto end = rest.find(',');
    use(rest.substr(0, end));
    rest = end == rest.npos ? std::string_view{} : rest.substr(end + 1);
  }
}

[[noreturn]] void misused(const char* variable, std::string_view word) {
  std::fprintf(stderr, "simulated device: cannot understand '%.*s' in %s\n",
               static_cast<int>(word.size()), word.data(), variable);
  std::_Exit(2);
}

settings read() {
  settings s;
  each_word(std::getenv("USMX_SIMULATED_DEVICE"), [&](std::string_view word) {
    if (word == "report")
      s.report = true;
    else if (word == "left")
      s.left_aligned = true;
    else if (word == "early-free")
      s.report_early_free = true;
    else if (word == "strict")
      s.strict = true;
    else if (word == "abort")
      s.abort_on_defect = true;
    else if (word == "usm-only")
      s.usm_only = true;
    else
      misused("USMX_SIMULATED_DEVICE", word);
  });
  each_word(std::getenv("USMX_FAULTS"), [](std::string_view word) {
    const auto colon = word.find(':');
    const std::string number{colon == word.npos ? "" : word.substr(colon + 1)};
    char* end = nullptr;
    const long nth = std::strtol(number.c_str(), &end, 10);
    const bool onwards = *end == '+';
    if (nth < 1 || *(end + onwards) != '\0' || !fail(word.substr(0, colon), nth, onwards)) {
      misused("USMX_FAULTS", word);
    }
  });
  return s;
}

}  // namespace

const settings& configuration() noexcept {
  static const settings s = read();
  return s;
}

void defect(const char* format, ...) noexcept {
  ++defect_count;
  std::array<char, 400> text;
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text.data(), text.size(), format, arguments);
  va_end(arguments);
  std::fprintf(stderr, "simulated device: DEFECT: %s\n", text.data());
  if (configuration().abort_on_defect) std::abort();
}

long defects() noexcept { return defect_count; }

const char* name(call kind) noexcept { return points[static_cast<std::size_t>(kind)].name; }

cl_int check(call kind) noexcept {
  auto& point = points[static_cast<std::size_t>(kind)];
  const long call = ++point.calls;
  const long nth = point.nth;
  const bool hit = nth != 0 && (point.onwards ? call >= nth : call == nth);
  return hit ? point.error : CL_SUCCESS;
}

bool fail(std::string_view kind, long nth, bool onwards) noexcept {
  fault_point* point = find(kind);
  if (!point) return false;
  point->calls = 0;
  point->onwards = onwards;
  point->nth = nth;
  return true;
}

long calls(std::string_view kind) noexcept {
  const fault_point* point = find(kind);
  return point ? point->calls.load() : -1;
}

}  // namespace simulated
