// Programs on disk: what is found again, what is not trusted, and what a damaged folder does.
// SPDX-License-Identifier: Apache-2.0
#include "usmx/program_cache.hpp"

#include <atomic>
#include <cstring>
#include <thread>

#include "program_folder.hpp"

namespace {

namespace fs = std::filesystem;
using namespace kept;
using settings = usmx::program_cache_settings;

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
  for (std::size_t at = 0; at < whole.size(); at += at < 72 ? 8 : whole.size() / 6) {
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

TEST(ProgramCache, ABinaryThatTheRuntimeRefusesIsReplaced) {
  const in_folder folder;
  const auto first = unique(add);
  run(first);
  // A file in perfect order whose binary is none: made by giving it another's length in the head.
  const auto file = folder.files().at(0);
  std::string text = read(file);
  std::uint64_t head[9];  // magic, checksum, number of parts, their sizes; the binary is the last
  std::memcpy(head, text.data(), sizeof head);
  CHECK_EQUAL(head[2], 6u);
  text.resize(text.size() - head[8]);
  text += "not a program";
  head[8] = 13;
  std::memcpy(text.data(), head, sizeof head);
  head[1] = 0xcbf29ce484222325u;
  for (std::size_t i = 16; i < text.size(); ++i) {
    head[1] = (head[1] ^ static_cast<unsigned char>(text[i])) * 0x100000001b3u;
  }
  std::memcpy(text.data(), head, sizeof head);
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

// However a text names a file, and wherever the compiler finds it.
// Their names are like ours, and they are old.
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

TEST(ProgramCache, ListsAndClears) {
  const in_folder folder;
  run(unique(add));
  run(unique(add));
  const std::string null("\0\xff", 2);
  usmx::detail::store_texts("one", std::vector<std::string>{"a", "", null});
  usmx::detail::store_texts(null, {});
  CHECK(usmx::detail::load_texts("one") == std::vector<std::string>({"a", "", null}));
  CHECK(usmx::detail::load_texts(null) == std::vector<std::string>());
  CHECK(!usmx::detail::load_texts("two"));
  CHECK_EQUAL(folder.files().size(), 4u);
  const auto texts = usmx::count_cached_texts();
  CHECK_EQUAL(texts.count, 2u);
  CHECK(texts.bytes > 0);
  const auto programs = usmx::cached_programs();
  CHECK_EQUAL(programs.size(), 2u);
  CHECK(programs.at(0).last_used >= programs.at(1).last_used);
  CHECK_EQUAL(programs.at(0).kernels.at(0), std::string("add"));
  CHECK(!programs.at(0).device.empty());
  CHECK_EQUAL(programs.at(0).bytes, fs::file_size(programs.at(0).file));
  CHECK_EQUAL(usmx::clear_cached_programs(), 2u);
  CHECK_EQUAL(folder.files().size(), 0u);
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
  CHECK_EQUAL(settings::from_environment().folder, folder.own());
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
                "USMX_CACHE_SIZE: '" + std::string(text) +
                    "' is not a size; expected bytes, such as 268435456 or 256M");
  }
  unsetenv("USMX_CACHE_SIZE");
  setenv("USMX_CACHE", "yes", 1);
  CHECK_EQUAL(message_of([] { settings::from_environment(); }),
              std::string("USMX_CACHE: 'yes' is not supported; expected 0 (off) or 1 (on)"));
  CHECK_THROWS(std::invalid_argument, program::build(usmx::default_queue(), unique(add)));
  setenv("USMX_CACHE", "1", 1);
  unsetenv("USMX_CACHE_DIR");
  setenv("XDG_CACHE_HOME", "/somewhere", 1);
  CHECK_EQUAL(settings::from_environment().folder, fs::path("/somewhere/usmx/programs"));
  setenv("XDG_CACHE_HOME", "relative", 1);  // to be ignored, says its specification
  setenv("HOME", "/my", 1);
  CHECK_EQUAL(settings::from_environment().folder, fs::path("/my/.cache/usmx/programs"));
}
