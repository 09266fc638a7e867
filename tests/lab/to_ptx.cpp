// Compiles a kernel for CUDA where there is no such device: asks the run-time compiler of the SYCL
// runtime for PTX through the same function that the runtime calls.
//
//   to_ptx libsycl-jit.so kernels/ text.cpp [option...] > text.ptx
//   to_ptx libsycl-jit.so kernels/ < list
//
// Functions that the device library lacks stay `.extern` in the PTX; the log is on stderr. The
// process aborts where a program on a CUDA device would.
//
// A line of the list is the file of a text and its options, separated by tabs. The PTX is written
// to the same name with .ptx, or the log if there is no PTX, and the name of the file is printed.
// One process for many texts takes two thirds of the time; if it aborts, the text that follows the
// last name is to blame.
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <span>
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

/// The compiler and the files that texts include.
class ptx_compiler {
 public:
  ptx_compiler(const char* library_path, const std::filesystem::path& folder) {
    void* library = dlopen(library_path, RTLD_NOW);
    if (library == nullptr) throw std::runtime_error(dlerror());
    compile_ = reinterpret_cast<compile_function>(dlsym(library, "compileSYCL"));
    if (compile_ == nullptr) throw std::runtime_error(dlerror());
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      if (!entry.is_regular_file()) continue;
      headers_.emplace_back("usmx/" + relative(entry.path(), folder).string(),
                            content_of(entry.path()));
    }
    for (const auto& [path, content] : headers_) files_.push_back({path.c_str(), content.c_str()});
  }

  struct outcome {
    bool made;
    std::string ptx;
    std::string log;
  };
  outcome operator()(const std::string& text, std::span<const std::string> its_options) const {
    std::vector<const char*> options = {"-Xclang", "-include", "-Xclang", "usmx/prelude.hpp"};
    for (const auto& option : its_options) options.push_back(option.c_str());
    const compile_result result =
        compile_({"source.cpp", text.c_str()}, {files_.data(), files_.size()},
                 {options.data(), options.size()}, {nullptr, 0}, false, ptx);
    outcome made{result.code == 0, {}, result.log != nullptr ? result.log : ""};
    for (std::size_t k = 0; made.made && k < result.image_count; ++k) {
      made.ptx.append(result.images[k].begin, result.images[k].size);
    }
    return made;
  }

 private:
  compile_function compile_ = nullptr;
  std::vector<std::pair<std::string, std::string>> headers_;
  std::vector<text_file> files_;
};

std::vector<std::string> parts_of(const std::string& line) {
  std::vector<std::string> parts;
  std::istringstream in(line);
  for (std::string part; std::getline(in, part, '\t');) parts.push_back(part);
  return parts;
}

void compile_list(const ptx_compiler& compile) {
  for (std::string line; std::getline(std::cin, line);) {
    const std::vector<std::string> parts = parts_of(line);
    const auto made = compile(content_of(parts.front()), std::span(parts).subspan(1));
    std::ofstream(std::filesystem::path(parts.front()).replace_extension(".ptx"))
        << (made.made ? made.ptx : made.log);
    std::cout << parts.front() << std::endl;
  }
}

int compile_one(const ptx_compiler& compile, std::span<char*> arguments) {
  const std::vector<std::string> options(arguments.begin() + 1, arguments.end());
  const auto made = compile(content_of(arguments.front()), options);
  std::cerr << made.log << '\n';
  std::cout << made.ptx << std::flush;
  return made.made ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: to_ptx libsycl-jit.so kernels/ text.cpp [option...] > text.ptx\n"
                 "       to_ptx libsycl-jit.so kernels/ < list\n";
    return 2;
  }
  try {
    const ptx_compiler compile(argv[1], argv[2]);
    int code = 0;
    if (argc == 3) {
      compile_list(compile);
    } else {
      code = compile_one(compile, std::span(argv, argv + argc).subspan(3));
    }
    std::_Exit(code);
  } catch (const std::exception& e) {
    std::cerr << e.what() << '\n';
    return 2;
  }
}
