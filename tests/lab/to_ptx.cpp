// Compiles a kernel for CUDA where there is no such device: asks the run-time compiler of the SYCL
// runtime for PTX through the same function that the runtime calls.
//
//   to_ptx libsycl-jit.so kernels/ text.cpp [option...] > text.ptx
//
// Functions that the device library lacks stay `.extern` in the PTX; the log is on stderr. The
// process aborts where a program on a CUDA device would.
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

// The compiler looks for its device library in a folder of its own that exists in memory only, and
// finds it by walking up from there to a `lib` that the file system has.
extern "C" __attribute__((visibility("default"))) int __xstat64(int version, const char* path,
                                                                void* out) {
  using function = int (*)(int, const char*, void*);
  static const auto next = reinterpret_cast<function>(dlsym(RTLD_NEXT, "__xstat64"));
  return next(version, std::strcmp(path, "/sycl-jit-toolchain/lib") == 0 ? "/" : path, out);
}

namespace {

// The C++ interface of libsycl-jit.so 2026, which has no header in the package.
struct text_file {
  const char* path;
  const char* content;
};
template <class T>
struct list_view {
  const T* begin;
  std::size_t size;
};
struct image {
  std::uint32_t format;
  std::uint64_t address_bits;
  const char* begin;
  std::uint64_t size;
  void* symbols_and_properties[4];
};
struct compile_result {
  std::int32_t code;
  image* images;
  std::size_t image_count;
  char* options;
  char* code_begin;
  std::size_t code_size;
  char* log;
  ~compile_result() {}  // returned through memory, and never freed
};
using compile_function = compile_result (*)(text_file, list_view<text_file>, list_view<const char*>,
                                            list_view<char>, bool, std::uint32_t);
constexpr std::uint32_t ptx = 3;

std::string content_of(const std::filesystem::path& file) {
  std::ifstream in(file);
  if (!in) throw std::runtime_error("cannot read " + file.string());
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

int run(int argc, char** argv) {
  void* library = dlopen(argv[1], RTLD_NOW);
  if (library == nullptr) throw std::runtime_error(dlerror());
  const auto compile = reinterpret_cast<compile_function>(dlsym(library, "compileSYCL"));
  if (compile == nullptr) throw std::runtime_error(dlerror());

  const std::filesystem::path folder = argv[2];
  std::vector<std::pair<std::string, std::string>> headers;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    headers.emplace_back("usmx/" + relative(entry.path(), folder).string(),
                         content_of(entry.path()));
  }
  std::vector<text_file> files;
  for (const auto& [path, content] : headers) files.push_back({path.c_str(), content.c_str()});
  const std::string text = content_of(argv[3]);
  std::vector<const char*> options = {"-Xclang", "-include", "-Xclang", "usmx/prelude.hpp"};
  options.insert(options.end(), argv + 4, argv + argc);

  const compile_result result = compile({"source.cpp", text.c_str()}, {files.data(), files.size()},
                                        {options.data(), options.size()}, {nullptr, 0}, false, ptx);
  if (result.log != nullptr) std::cerr << result.log << '\n';
  if (result.code != 0) return 1;
  for (std::size_t k = 0; k < result.image_count; ++k) {
    std::fwrite(result.images[k].begin, 1, result.images[k].size, stdout);
  }
  std::fflush(stdout);
  std::_Exit(0);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::cerr << "usage: to_ptx libsycl-jit.so kernels/ text.cpp [option...] > text.ptx\n";
    return 2;
  }
  try {
    return run(argc, argv);
  } catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
    return 2;
  }
}
