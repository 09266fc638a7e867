// The folder of compiled programs among other users, links and files of its own user, and programs
// that files decide.
// SPDX-License-Identifier: Apache-2.0
#include <sys/resource.h>

#include <csignal>
#include <cstring>

#include "program_folder.hpp"

namespace {

namespace fs = std::filesystem;
using namespace kept;

}  // namespace

TEST(CacheFolder, AFileThatOthersMayWriteIsNotExecuted) {
  const in_folder folder;
  const auto source = unique(add);
  run(source);
  fs::permissions(folder.files().at(0), fs::perms::group_write, fs::perm_options::add);
  CHECK(is_compiled(run(source)));
  CHECK(is_loaded(run(source)));  // it was replaced by one that is ours alone
}

TEST(CacheFolder, AFolderThatCannotBeWrittenIsNoError) {
  const in_folder folder;
  write(folder.path() / "file", "");
  setenv("USMX_CACHE_DIR", (folder.path() / "file" / "below").c_str(), 1);
  CHECK(is_compiled(run(unique(add))));
  CHECK(usmx::cached_programs().empty());
}

TEST(CacheFolder, WhatAFileDecidesIsNotKept) {
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
  CHECK_EQUAL(folder.files().size(), 0u);
}

TEST(CacheFolder, AChangedFileIsNoticedInEverySpelling) {
  const in_folder folder;
  const auto file = '"' + (folder.path() / "mine.hpp").string() + '"';
  const std::vector<std::string> spellings{
      "#include " + file,
      "%:include " + file,
      "#/**/include " + file,
      "#/* of\ntwo lines */include " + file,
      "#\\\n include " + file,
      "#inc\\\nlude " + file,
      "# inc\\ \nlude " + file,
      "#include_next " + file,
      "#define FILE " + file + "\n#include FILE",
      "#include <mine.hpp>",
      "#include \\\n<mine.hpp>",
      "#if __has_include(" + file + ")\n#include " + file + "\n#else\n#define N 0\n#endif",
      "R\"(\")\";\n#include " + file,
  };
  setenv("CPATH", folder.path().c_str(), 1);
  for (auto head : spellings) {
    if (head.starts_with("R\"")) head.insert(0, "static const char* const text = ");
    const auto source = unique(head + "\nUSMX_KERNEL(1) add(int* x, int n) { x[0] += n + N; }\n");
    write(folder.path() / "mine.hpp", "#define N 0\n");
    CHECK_EQUAL(run(source).value, 42);
    write(folder.path() / "mine.hpp", "#define N 1\n");
    CHECK_EQUAL(run(source).value, 43);
  }
  unsetenv("CPATH");
  CHECK_EQUAL(folder.files().size(), 0u);
}

TEST(CacheFolder, AFileThatAppearsIsNoticed) {
  const in_folder folder;
  const auto file = '"' + (folder.path() / "flag.hpp").string() + '"';
  const auto source = unique("#if __has_include(" + file +
                             ")\n#define N 1\n#else\n#define N 0\n#endif\n"
                             "USMX_KERNEL(1) add(int* x, int n) { x[0] += n + N; }\n");
  CHECK_EQUAL(run(source).value, 42);
  write(folder.path() / "flag.hpp", "");
  CHECK_EQUAL(run(source).value, 43);
}

TEST(CacheFolder, HeadersOfTheSystemAreKeptWithTheirState) {
  const in_folder folder;
  const auto source = unique("#include <cstdint>\n" + std::string(add));
  CHECK(is_compiled(run(source)));
  CHECK(is_loaded(run(source)));
  // The compiler said what it read; what is kept names it.
  CHECK(read(folder.files().at(0)).find("/cstdint") != std::string::npos);
  // As if a header had been replaced since: the same record with another time in it.
  auto text = read(folder.files().at(0));
  const auto path = text.find("/usr/");
  CHECK(path != std::string::npos);
  std::uint64_t head[9];
  std::memcpy(head, text.data(), sizeof head);
  const auto about = 72 + head[3] + head[4] + head[5] + head[6];
  const auto digit = text.find('\0', about + head[6] - 2) + 1;
  text[digit] = text[digit] == '9' ? '8' : static_cast<char>(text[digit] + 1);
  head[1] = 0xcbf29ce484222325u;
  for (std::size_t i = 16; i < text.size(); ++i) {
    head[1] = (head[1] ^ static_cast<unsigned char>(text[i])) * 0x100000001b3u;
  }
  std::memcpy(text.data(), head, sizeof head);
  write(folder.files().at(0), text);
  CHECK_EQUAL(usmx::cached_programs().size(), 1u);
  CHECK(is_compiled(run(source)));
}

TEST(CacheFolder, AFolderThatOthersMayWriteIsNotUsed) {
  const in_folder folder;
  const auto source = unique(add);
  CHECK(is_compiled(run(source)));
  CHECK_EQUAL(usmx::program_cache_problem(), std::string());
  fs::permissions(folder.own(), fs::perms::others_write, fs::perm_options::add);
  CHECK(is_compiled(run(source)));
  CHECK(usmx::cached_programs().empty());
  CHECK_EQUAL(usmx::clear_cached_programs(), 0u);
  CHECK_EQUAL(usmx::program_cache_problem(),
              std::string("is writable by other users; chmod go-w makes it safe"));
  fs::permissions(folder.own(), fs::perms::others_write, fs::perm_options::remove);
  CHECK(is_loaded(run(source)));
}

TEST(CacheFolder, AFolderThatIsALinkIsNotUsed) {
  const in_folder folder;
  fs::create_directory(folder.path() / "elsewhere");
  fs::create_directory_symlink(folder.path() / "elsewhere", folder.own());
  CHECK(is_compiled(run(unique(add))));
  CHECK(fs::is_empty(folder.path() / "elsewhere"));
  CHECK_EQUAL(usmx::program_cache_problem(), std::string("is not a folder, or is a symbolic link"));
}

TEST(CacheFolder, WhatIsBehindALinkIsNeitherReadNorWritten) {
  const in_folder folder;
  const auto source = unique(add);
  run(source);
  const auto file = folder.files().at(0);
  const auto moved = folder.path() / "moved";
  const auto whole = read(file);
  fs::rename(file, moved);
  fs::create_symlink(moved, file);
  CHECK(is_compiled(run(source)));
  CHECK(!fs::is_symlink(file));
  CHECK(read(moved) == whole);
  CHECK(is_loaded(run(source)));
}

TEST(CacheFolder, WhatCannotBeWrittenLeavesNothingBehind) {
  const in_folder folder;
  // A limit on the size of files ends a write in the middle, as a full disk does.
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit small = before;
  small.rlim_cur = 1000;
  setrlimit(RLIMIT_FSIZE, &small);
  const auto outcome = run(unique(add));
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  CHECK(is_compiled(outcome));
  CHECK(fs::exists(folder.own()));
  CHECK_EQUAL(folder.files().size(), 0u);
}

TEST(CacheFolder, FilesOfOthersAreLeftAlone) {
  const in_folder folder;
  run(unique(add));
  const auto digits = folder.files().at(0).stem().string();
  const std::vector<std::string> names{
      "my.textbook.pdf",       "thesis.text",           "x.program",
      "concert.programme.doc", "0123.program.77.0",     digits + ".program.bak",
      digits + ".texts",       "draft-" + digits + "0", "my-draft-" + digits};
  const auto old = fs::file_time_type::clock::now() - std::chrono::hours(2);
  for (const auto& where : {folder.path(), folder.own()}) {
    for (const auto& name : names) {
      write(where / name, "mine");
      fs::last_write_time(where / name, old);
    }
  }
  setenv("USMX_CACHE_SIZE", "16K", 1);
  run(unique(add));
  CHECK_EQUAL(usmx::count_cached_texts().count, 0u);
  usmx::clear_cached_programs();
  for (const auto& where : {folder.path(), folder.own()}) {
    for (const auto& name : names) CHECK(fs::exists(where / name));
  }
  CHECK_EQUAL(folder.files().size(), names.size());
}

TEST(CacheFolder, WhatADeadProcessLeftIsRemoved) {
  const in_folder folder;
  run(unique(add));
  const auto left = folder.own() / ("draft-" + folder.files().at(0).stem().string());
  write(left, "half");
  CHECK_EQUAL(usmx::cached_programs().size(), 1u);
  CHECK(fs::exists(left));  // another process may be writing it
  fs::last_write_time(left, fs::file_time_type::clock::now() - std::chrono::hours(2));
  CHECK_EQUAL(usmx::cached_programs().size(), 1u);
  CHECK(!fs::exists(left));
}

TEST(CacheFolder, IsNotListedForEachProgram) {
  const in_folder folder;
  usmx::detail::store_texts("first", {});
  // What a dead process left goes when the files are listed.
  const auto left = folder.own() / ("draft-" + folder.files().at(0).stem().string());
  write(left, "half");
  fs::last_write_time(left, fs::file_time_type::clock::now() - std::chrono::hours(2));
  const std::vector<std::string> text{std::string(1000, 'x')};
  for (int k = 0; k < 20; ++k) usmx::detail::store_texts(std::to_string(k), text);
  CHECK(fs::exists(left));
  // Near a limit they are.
  setenv("USMX_CACHE_SIZE", "64K", 1);
  for (int k = 20; k < 200; ++k) {
    usmx::detail::store_texts(std::to_string(k), text);
    CHECK(usmx::count_cached_texts().bytes <= 64 << 10);
    CHECK(usmx::detail::load_texts(std::to_string(k)).has_value());
  }
}
