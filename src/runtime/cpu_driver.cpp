// Runs when libusmx is loaded, before it can list devices: the OpenCL loader looks for drivers only
// once, and the wheel of the CPU driver is not registered with it.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/cpu_driver.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

#include "core/format.hpp"
#include "runtime/drivers.hpp"

namespace usmx {
namespace {

namespace fs = std::filesystem;
using detail::format;

constexpr const char* driver_name = "libintelocl.so";
constexpr const char* loader_name = "libOpenCL.so.1";
constexpr const char* tbb_name = "libtbb.so.12";

constexpr const char* drivers_variable = "OCL_ICD_FILENAMES";  // the loader of Khronos
constexpr const char* vendors_variable = "OCL_ICD_VENDORS";    // both, instead of the system's
/// What usmx put into `drivers_variable`, so that a child process can tell it from a user's choice.
/// Also in python/usmx.pth.
constexpr const char* shown_variable = "USMX_SHOWN_DRIVER";
constexpr const char* system_drivers = "/etc/OpenCL/vendors";

std::optional<std::string> variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? std::optional<std::string>(value) : std::nullopt;
}

bool is_there(const fs::path& path) noexcept {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

/// A library of this process.
struct loaded_library {
  std::string path;
  std::vector<std::string> needs;
};

/// The names that a library needs: its DT_NEEDED entries.
std::vector<std::string> needs_of(const dl_phdr_info& info) {
  for (int i = 0; i < info.dlpi_phnum; ++i) {
    if (info.dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    const auto* entries =
        reinterpret_cast<const ElfW(Dyn)*>(info.dlpi_addr + info.dlpi_phdr[i].p_vaddr);
    const char* names = nullptr;
    for (const auto* e = entries; e->d_tag != DT_NULL; ++e)
      if (e->d_tag == DT_STRTAB) names = reinterpret_cast<const char*>(e->d_un.d_ptr);
    std::vector<std::string> needs;
    for (const auto* e = entries; names && e->d_tag != DT_NULL; ++e)
      if (e->d_tag == DT_NEEDED) needs.emplace_back(names + e->d_un.d_val);
    return needs;
  }
  return {};
}

std::vector<loaded_library> loaded_libraries() {
  std::vector<loaded_library> all;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* list) {
        const std::string_view path = info->dlpi_name;
        // The program itself has no name, and the names of the kernel's library cannot be read.
        if (path.find('/') != path.npos)
          static_cast<std::vector<loaded_library>*>(list)->push_back(
              {std::string(path), needs_of(*info)});
        return 0;
      },
      &all);
  return all;
}

std::string file_name(const std::string& path) { return fs::path(path).filename().string(); }

/// The package that a library belongs to, if it is one of Python; otherwise the library.
std::string described(const std::string& path) {
  std::error_code ignored;
  const fs::path file = fs::weakly_canonical(path, ignored);
  bool next = false;
  for (const auto& part : file) {
    if (next && part != file.filename()) return part.string();
    next = part == "site-packages" || part == "dist-packages";
  }
  return file_name(path);
}

/// Whether a library of this package lies in an environment, as <environment>/lib/pythonX.Y/
/// site-packages/usmx/lib. `pip install --target` makes <folder>/usmx/lib, and what is above the
/// folder belongs to another user.
bool in_environment(const fs::path& library) {
  const fs::path folder = library.parent_path().parent_path().parent_path().filename();
  return folder == "site-packages" || folder == "dist-packages";
}

/// The driver next to the runtime, or where wheels of this environment put their libraries.
std::string find_driver(const std::vector<loaded_library>& libraries) {
  std::vector<fs::path> folders;
  const auto add = [&](const char* name, std::initializer_list<const char*> ways, bool outside) {
    for (const auto& library : libraries) {
      if (!file_name(library.path).starts_with(name)) continue;
      std::error_code ignored;
      const fs::path written = library.path;
      const fs::path real = fs::weakly_canonical(written, ignored);
      for (const char* way : ways) {
        for (const auto& path : {written.lexically_normal(), real}) {
          if (!outside || in_environment(path)) folders.push_back(path.parent_path() / way);
        }
      }
    }
  };
  add("libsycl.so", {"."}, false);
  add("libusmx.so", {"../../lib"}, false);
  add("libusmx.so", {"../../../..", "../../../../../lib"}, true);
  for (const auto& folder : folders)
    if (const auto driver = folder / driver_name; is_there(driver)) {
      std::error_code ignored;
      // Links in the folder are resolved, the name is kept: it may be a link to a version.
      return (fs::weakly_canonical(folder, ignored) / driver_name).string();
    }
  return {};
}

std::string first_named(const std::vector<loaded_library>& libraries, std::string_view name) {
  for (const auto& library : libraries)
    if (file_name(library.path).starts_with(name))
      return fs::path(library.path).lexically_normal().string();
  return {};
}

std::vector<std::string> users_of_opencl(const std::vector<loaded_library>& libraries) {
  constexpr std::array ours = {"libsycl", "libusmx", "_usmx"};
  std::vector<std::string> users;
  for (const auto& library : libraries) {
    const auto name = file_name(library.path);
    if (std::ranges::any_of(ours, [&](const char* own) { return name.starts_with(own); })) continue;
    const bool uses = std::ranges::any_of(library.needs, [](const std::string& need) {
      return need.starts_with("libsycl.so") || need.starts_with("libOpenCL.so");
    });
    if (auto user = described(library.path); uses && std::ranges::count(users, user) == 0)
      users.push_back(std::move(user));
  }
  return users;
}

/// Loads a library that may need others from its folder without naming the folder.
void load_beside(const fs::path& folder, const std::string& name, int depth = 0) {
  if (dlopen((folder / name).c_str(), RTLD_LAZY)) return;  // stays for the life of the process
  // "libsvml.so: cannot open shared object file: ...": the loader of the wheel names no folder.
  const char* error = dlerror();
  const std::string text = error ? error : "";
  const std::string missing = text.substr(0, text.find(':'));
  if (depth < 8 && missing != name && missing.find('/') == missing.npos &&
      is_there(folder / missing)) {
    load_beside(folder, missing, depth + 1);
    load_beside(folder, name, depth + 1);
  }
}

/// Whether the loader in use is that of the system: ocl-icd, perhaps, which does not read
/// OCL_ICD_FILENAMES. It cannot be queried before it has looked for drivers.
bool has_other_loader(const driver_search& found) {
  if (found.early_loader.empty()) return false;
  std::error_code ignored;
  return fs::weakly_canonical(found.early_loader, ignored).parent_path() !=
         fs::path(found.driver).parent_path();
}

bool system_has_drivers() {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(system_drivers, error))
    if (entry.path().extension() == ".icd") return true;
  return false;
}

driver_search search() {
  const auto libraries = loaded_libraries();
  driver_search found;
  found.driver = find_driver(libraries);
  if (found.driver.empty()) return found;
  found.early_loader = first_named(libraries, loader_name);
  found.early_tbb = first_named(libraries, tbb_name);
  if (!found.early_loader.empty()) found.early_users = users_of_opencl(libraries);
  const auto chosen = variable(drivers_variable);
  // A Python that is started from another environment inherits its variables.
  if (chosen && chosen != variable(shown_variable)) return found;
  setenv(drivers_variable, found.driver.c_str(), 1);
  setenv(shown_variable, found.driver.c_str(), 1);
  found.shown = true;

  const auto folder = fs::path(found.driver).parent_path();
  // ocl-icd looks into one folder or at one driver, so those of the system go before ours. For the
  // loader of Khronos this is a folder without drivers, and it finds ours by the other variable.
  if (has_other_loader(found) && !variable(vendors_variable) && !system_has_drivers())
    setenv(vendors_variable, found.driver.c_str(), 1);
  // Of libraries with the same name a process uses the first one, and those of the system can be
  // too old for the driver, or not find it: see docs/decisions/0006-finding-the-driver.md.
  for (const auto* name : {loader_name, tbb_name})
    if (first_named(libraries, name).empty() && is_there(folder / name)) load_beside(folder, name);
  return found;
}

const driver_search& searched() noexcept {
  static const driver_search& found = *new driver_search([] {
    try {
      return search();
    } catch (...) {
      return driver_search{};  // no memory: the messages say less
    }
  }());
  return found;
}

[[gnu::constructor]] void search_when_loaded() { searched(); }

/// Why the dynamic loader refuses the driver; empty if it does not.
std::string refusal(const std::string& driver) {
  if (dlopen(driver.c_str(), RTLD_LAZY)) return {};
  const char* error = dlerror();
  return error ? error : "it cannot be loaded";
}

/// What is wrong with a list of drivers that the user chose.
std::string chosen_text(const std::string& list, const std::string& driver) {
  std::string text;
  bool names_ours = false;
  for (std::size_t at = 0; at <= list.size();) {
    const auto end = std::min(list.find(':', at), list.size());
    const auto file = list.substr(at, end - at);
    at = end + 1;
    names_ours = names_ours || (!file.empty() && file == driver);
    if (file.starts_with('/') && !is_there(file)) {
      text += format(" {} names '{}', which does not exist: correct it or unset it.",
                     drivers_variable, file);
    }
  }
  if (text.empty() && !driver.empty() && !names_ours) {
    text = format(" {}='{}' is set and does not contain the CPU driver '{}': unset it.",
                  drivers_variable, list, driver);
  }
  return text;
}

}  // namespace

const driver_search& cpu_driver() noexcept { return searched(); }

std::string missing_driver_text() {
  const auto& found = cpu_driver();
  std::string text;
  if (!detail::working_folder_exists()) {
    return " The working folder of this process was removed, and the SYCL runtime was started "
           "there "
           "by another library: start the process in a folder that exists, or import usmx and call "
           "usmx.devices() first.";
  }
  if (const auto chosen = variable(drivers_variable); chosen && !found.shown)
    text = chosen_text(*chosen, found.driver);
  if (found.driver.empty())
    return text +
           " Install a CPU driver with `pip install intel-opencl-rt` (x86-64 Linux) or the driver "
           "of your GPU.";
  if (!text.empty()) return text;
  if (const auto reason = refusal(found.driver); !reason.empty()) {
    text = format(" The CPU driver '{}' cannot be loaded: {}.", found.driver, reason);
    if (!found.early_tbb.empty()) {
      text += format(
          " '{}' was loaded before usmx: import usmx before the library that loads it, or start "
          "the process with LD_PRELOAD={}.",
          found.early_tbb, (fs::path(found.driver).parent_path() / tbb_name).string());
    }
    return text;
  }
  if (found.early_loader.empty()) return {};
  std::string line = format("{}={}", drivers_variable, found.driver);
  if (has_other_loader(found)) line += format(" {}={}", vendors_variable, found.driver);
  return format(
      " The CPU driver '{}' is installed, but '{}' was loaded before usmx{}{}, and OpenCL looks "
      "for "
      "drivers only once: import usmx first, or start the process with {}.",
      found.driver, found.early_loader, found.early_users.empty() ? "" : ", by ",
      detail::joined(found.early_users), line);
}

}  // namespace usmx
