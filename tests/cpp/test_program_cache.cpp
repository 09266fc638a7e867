// Programs on disk: what is found again, what is not trusted, and what a damaged folder does.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/program_cache.hpp"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <thread>

#include <sycl/properties/queue_properties.hpp>

#include "check.hpp"
#include "usmx/kernel.hpp"
#include "usmx/runtime.hpp"

namespace {

namespace fs = std::filesystem;
using usmx::program;
using settings = usmx::program_cache_settings;

/// A folder of its own, and the cache turned on in it.
class in_folder {
 public:
  in_folder() {
    std::string name = (fs::temp_directory_path() / "usmx-programs-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder: " + name);
    folder_ = name;
    setenv("USMX_CACHE", "1", 1);
    setenv("USMX_CACHE_DIR", name.c_str(), 1);
    unsetenv("USMX_CACHE_SIZE");
  }
  ~in_folder() {
    std::error_code ignored;
    fs::permissions(folder_, fs::perms::owner_all, ignored);
    fs::remove_all(folder_, ignored);
  }
  const fs::path& path() const { return folder_; }
  std::vector<fs::path> files() const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(folder_)) found.push_back(entry.path());
    return found;
  }

 private:
  fs::path folder_;
};

std::string read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
void write(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

/// Each in a context of its own, so that nothing is found in memory.
sycl::queue new_queue() {
  const auto device = usmx::default_queue().get_device();
  return {sycl::context(device), device, sycl::property::queue::in_order()};
}

std::string unique(const std::string& body) {
  static int next = 0;
  return "// " + std::to_string(++next) + "\n" + body;
}
const char* const add = "USMX_KERNEL(1) add(int* x, int n) { x[usmx::global_id()] += n; }\n";

/// What `add` makes of 1 with 41, and what `build` counted.
struct outcome {
  int value = 0;
  std::size_t compiled = 0;
  std::size_t loaded = 0;
};
outcome run(const std::string& source, const std::vector<std::string>& options = {},
            const char* name = "add") {
  const auto before = program::counts();
  auto q = new_queue();
  const auto k = program::build(q, source, options).get(name);
  const std::int64_t shape[] = {1};
  const auto x = usmx::array::empty(q, shape, usmx::dtype::of<int>(), usmx::usm_kind::shared);
  auto* const value = static_cast<int*>(x.data());
  *value = 1;
  k.launch(q, 1, {x, 41}).wait();
  const auto after = program::counts();
  return {*value, after.compiled - before.compiled, after.loaded - before.loaded};
}

bool is_compiled(const outcome& o) { return o.value == 42 && o.compiled == 1 && o.loaded == 0; }
bool is_loaded(const outcome& o) { return o.value == 42 && o.compiled == 0 && o.loaded == 1; }

template <class Call>
std::string message_of(Call call) {
  try {
    call();
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "(nothing was thrown)";
}

}  // namespace

TEST(ProgramCache, WhatWasCompiledIsReadBack) {
  const in_folder folder;
  const auto source = unique(add);
  CHECK(is_compiled(run(source)));
  CHECK_EQUAL(folder.files().size(), 1u);
  CHECK(is_loaded(run(source)));
}

TEST(ProgramCache, AProgramReadBackIsCheckedAsBefore) {
  const in_folder folder;
  const auto source = unique(add);
  run(source);
  auto q = new_queue();
  const auto built = program::build(q, source);
  CHECK_EQUAL(built.names().size(), 1u);
  const auto k = built.get("add");
  CHECK_EQUAL(k.argument_count(), 2u);
  CHECK_EQUAL(k.rank(), 1);
  CHECK(k.max_work_group_size() > 0);
  CHECK_THROWS(std::invalid_argument, k.launch(q, 1, {1}));
  CHECK_THROWS(usmx::interop_error, k.launch(q, 1, {1, 2}));
  CHECK_THROWS(std::out_of_range, built.get("other"));
}

TEST(ProgramCache, OptionsAndTextMakeOtherPrograms) {
  const in_folder folder;
  const auto source =
      unique("USMX_KERNEL(1) add(int* x, int n) { x[usmx::global_id()] += n + MORE; }\n");
  CHECK_EQUAL(run(source, {"-DMORE=0"}).value, 42);
  const auto more = run(source, {"-DMORE=1"});
  CHECK_EQUAL(more.value, 43);
  CHECK_EQUAL(more.compiled, 1u);
  CHECK_EQUAL(folder.files().size(), 2u);
}

TEST(ProgramCache, ADamagedFileIsCompiledAgainAndReplaced) {
  const in_folder folder;
  const auto source = unique(add);
  run(source);
  const auto file = folder.files().at(0);
  const std::string whole = read(file);
  std::vector<std::string> damaged{"",
                                   "x",
                                   whole.substr(0, 40),
                                   whole.substr(0, whole.size() - 1),
                                   whole + "x",
                                   std::string(whole.size(), '\xff')};
  // A flipped bit everywhere: in each field of the head, and across the rest.
  for (std::size_t at = 0; at < whole.size(); at += at < 48 ? 8 : whole.size() / 6) {
    damaged.push_back(whole);
    damaged.back()[at] = static_cast<char>(damaged.back()[at] ^ 1);
  }
  for (const auto& text : damaged) {
    write(file, text);
    CHECK(usmx::cached_programs().empty());
    CHECK(is_compiled(run(source)));
    CHECK_EQUAL(usmx::cached_programs().size(), 1u);
    if (check::failures > 0) return;
    CHECK(is_loaded(run(source)));
  }
}

TEST(ProgramCache, AFileThatOthersMayWriteIsNotExecuted) {
  const in_folder folder;
  const auto source = unique(add);
  run(source);
  fs::permissions(folder.files().at(0), fs::perms::group_write, fs::perm_options::add);
  CHECK(is_compiled(run(source)));
  CHECK(is_loaded(run(source)));  // it was replaced by one that is ours alone
}

TEST(ProgramCache, ABinaryThatTheRuntimeRefusesIsReplaced) {
  const in_folder folder;
  const auto first = unique(add);
  run(first);
  // A file in perfect order whose binary is none: made by giving it another's length in the head.
  const auto file = folder.files().at(0);
  std::string text = read(file);
  std::uint64_t sizes[6];
  std::memcpy(sizes, text.data(), sizeof sizes);
  text.resize(text.size() - sizes[5]);
  text += "not a program";
  sizes[5] = 13;
  std::uint64_t sum = 0xcbf29ce484222325u;
  for (std::size_t i = sizeof sizes; i < text.size(); ++i) {
    sum = (sum ^ static_cast<unsigned char>(text[i])) * 0x100000001b3u;
  }
  sizes[1] = sum;
  std::memcpy(text.data(), sizes, sizeof sizes);
  write(file, text);
  CHECK_EQUAL(usmx::cached_programs().size(), 1u);
  CHECK(is_compiled(run(first)));
  CHECK(is_loaded(run(first)));
}

TEST(ProgramCache, OffMeansNoFile) {
  const in_folder folder;
  setenv("USMX_CACHE", "0", 1);
  const auto source = unique(add);
  CHECK(is_compiled(run(source)));
  CHECK(is_compiled(run(source)));
  CHECK_EQUAL(folder.files().size(), 0u);
}

TEST(ProgramCache, AFolderThatCannotBeWrittenIsNoError) {
  const in_folder folder;
  write(folder.path() / "file", "");
  setenv("USMX_CACHE_DIR", (folder.path() / "file" / "below").c_str(), 1);
  CHECK(is_compiled(run(unique(add))));
  CHECK(usmx::cached_programs().empty());
}

TEST(ProgramCache, WhatAFileDecidesIsNotKept) {
  const in_folder folder;
  const auto here = "-I" + folder.path().string();
  write(folder.path() / "n.hpp", "#define N 0\n");
  const auto source =
      unique("#include \"n.hpp\"\nUSMX_KERNEL(1) add(int* x, int n) { x[0] += n + N; }\n");
  CHECK(is_compiled(run(source, {here})));
  write(folder.path() / "n.hpp", "#define N 1\n");
  CHECK_EQUAL(run(source, {here}).value, 43);
  // An option may name one too, and a variable that the host writes to does not survive.
  CHECK(is_compiled(run(unique(add), {here})));
  CHECK(is_compiled(run(unique(std::string(add) + "// device_global\n"))));
  CHECK_EQUAL(folder.files().size(), 1u);  // n.hpp
}

TEST(ProgramCache, AWordInACommentIsNoFile) {
  const in_folder folder;
  const auto source = unique("// include the last one\n" + std::string(add));
  CHECK(is_compiled(run(source)));
  CHECK(is_loaded(run(source)));
}

TEST(ProgramCache, AKernelThatOnlyAMacroNamesIsFound) {
  const in_folder folder;
  const auto source = unique(std::string(add) +
                             "#define MAKE(name) USMX_KERNEL(1) name##_up(int* x, int n)\n"
                             "MAKE(add) { x[usmx::global_id()] += n; }\n");
  run(source);
  CHECK_EQUAL(run(source).loaded, 1u);
  const auto other = run(source, {}, "add_up");
  CHECK_EQUAL(other.value, 42);
}

TEST(ProgramCache, TheOldestGoAboveTheLimit) {
  const in_folder folder;
  const auto first = unique(add);
  run(first);
  const auto size = fs::file_size(folder.files().at(0));
  const auto old = folder.files().at(0);
  setenv("USMX_CACHE_SIZE", std::to_string(size * 3 + size / 2).c_str(), 1);
  fs::last_write_time(old, fs::file_time_type::clock::now() - std::chrono::hours(2));
  const auto second = unique(add);
  run(second);
  run(unique(add));
  CHECK_EQUAL(folder.files().size(), 3u);
  CHECK(is_loaded(run(first)));  // and so was used last
  for (const auto& f : folder.files()) {
    if (f != old) fs::last_write_time(f, fs::file_time_type::clock::now() - std::chrono::hours(1));
  }
  run(unique(add));
  CHECK(fs::exists(old));
  CHECK_EQUAL(folder.files().size(), 3u);
}

TEST(ProgramCache, NothingIsKeptThatIsAboveTheLimitByItself) {
  const in_folder folder;
  setenv("USMX_CACHE_SIZE", "1K", 1);
  CHECK(is_compiled(run(unique(add))));
  CHECK_EQUAL(folder.files().size(), 0u);
}

TEST(ProgramCache, WhatADeadProcessLeftIsRemoved) {
  const in_folder folder;
  const auto left = folder.path() / "0123.program.77.0";
  write(left, "half");
  run(unique(add));
  CHECK(fs::exists(left));  // somebody may be writing it
  fs::last_write_time(left, fs::file_time_type::clock::now() - std::chrono::hours(2));
  run(unique(add));
  CHECK(!fs::exists(left));
}

TEST(ProgramCache, ListsAndClears) {
  const in_folder folder;
  run(unique(add));
  run(unique(add));
  write(folder.path() / "mine.txt", "");
  for (const char* name : {"1.text", "2.text"}) write(folder.path() / name, "12345");
  const auto texts = usmx::count_cached_texts();
  CHECK_EQUAL(texts.count, 2u);
  CHECK_EQUAL(texts.bytes, 10u);
  const auto programs = usmx::cached_programs();
  CHECK_EQUAL(programs.size(), 2u);
  CHECK(programs.at(0).last_used >= programs.at(1).last_used);
  CHECK_EQUAL(programs.at(0).kernels.at(0), std::string("add"));
  CHECK(!programs.at(0).device.empty());
  CHECK_EQUAL(programs.at(0).bytes, fs::file_size(programs.at(0).file));
  CHECK_EQUAL(usmx::clear_cached_programs(), 2u);
  CHECK_EQUAL(folder.files().size(), 1u);
}

TEST(ProgramCache, ThreadsMayWriteTheSameProgram) {
  const in_folder folder;
  const auto source = unique(add);
  std::vector<std::thread> threads;
  std::atomic<int> right = 0;
  for (int t = 0; t < 4; ++t) threads.emplace_back([&] { right += run(source).value == 42; });
  for (auto& t : threads) t.join();
  CHECK_EQUAL(right.load(), 4);
  CHECK_EQUAL(folder.files().size(), 1u);
}

TEST(ProgramCache, SettingsComeFromTheEnvironment) {
  const in_folder folder;
  CHECK_EQUAL(settings::from_environment().folder, folder.path());
  CHECK_EQUAL(settings::from_environment().most, std::size_t{256} << 20);
  for (const auto& [text, bytes] : {std::pair<const char*, std::size_t>{"0", 0},
                                    {"1000", 1000},
                                    {"64K", 64 << 10},
                                    {"3G", std::size_t{3} << 30}}) {
    setenv("USMX_CACHE_SIZE", text, 1);
    CHECK_EQUAL(settings::from_environment().most, bytes);
  }
  for (const char* text : {"-1", "1KB", "K", "many", "99999999999999999999", "99999999999999G"}) {
    setenv("USMX_CACHE_SIZE", text, 1);
    CHECK_EQUAL(message_of([] { settings::from_environment(); }),
                "USMX_CACHE_SIZE: is \"" + std::string(text) +
                    "\", expected bytes, such as 268435456 or 256M");
  }
  unsetenv("USMX_CACHE_SIZE");
  setenv("USMX_CACHE", "yes", 1);
  CHECK_EQUAL(message_of([] { settings::from_environment(); }),
              std::string("USMX_CACHE: is \"yes\", expected 0 (off) or 1 (on)"));
  CHECK_THROWS(std::invalid_argument, program::build(usmx::default_queue(), unique(add)));
  setenv("USMX_CACHE", "1", 1);
  unsetenv("USMX_CACHE_DIR");
  setenv("XDG_CACHE_HOME", "/somewhere", 1);
  CHECK_EQUAL(settings::from_environment().folder, fs::path("/somewhere/usmx"));
  setenv("XDG_CACHE_HOME", "relative", 1);  // to be ignored, says its specification
  setenv("HOME", "/my", 1);
  CHECK_EQUAL(settings::from_environment().folder, fs::path("/my/.cache/usmx"));
}
