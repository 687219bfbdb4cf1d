// Compiles a student's .cu and links it with its lab's runner, with a cache.
//
// idea    The flags are the same as those that Meson uses for the solutions. nvcc's passes run in
//         parallel if their list is as expected (nvcc_passes.hpp). A program is kept in
//         build/submissions under the hash of its source, flags and runner, and is reused only
//         while every header that it included is unchanged. Variants of a sweep are kept in
//         build/sweeps and steps for --gpu in build/other-gpus, so that they do not evict the
//         student's own programs.
// Tested by tests/compile_test.cpp and cli/tests/ptx_test.cpp.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "grader/course/lab.hpp"
#include "grader/judge/installation.hpp"

namespace stepwise {

struct protections;

// This flag omits the special functions of <cmath> and their includes, which take a third of nvcc's
// time for a small file. Meson compiles the course with it (see meson.build). A file that fails to
// compile with it, for example for std::min without <algorithm>, is compiled again without it.
inline constexpr const char* no_special_functions = "-D_GLIBCXX_BITS_SPECFUN_H";

// A warning about the file that is compiled.
struct compiler_warning {
  int line = 0;  // from 1; 0: unknown
  std::string message;
  std::string text;  // of the line, trimmed
};

// The limit for all compilers of a file together.
inline constexpr double compile_limit_s = 180;

struct compiled {
  std::filesystem::path program;  // empty if it does not compile; next to kernels_of()
  bool cached = false;
  double seconds = 0;
  std::vector<std::string> explanation;    // if it does not compile; the first line is the summary
  std::vector<compiler_warning> warnings;  // if it compiles, also from the cache
  std::string log;                         // the compiler's whole output, if it does not compile
  bool out_of_memory = false;              // if it does not compile: due to the memory limit
  std::filesystem::path known_as;          // the program's name for its source: see hides_name
};

// How to compile a file in a sandbox. The compiler sees no other file of its folder.
struct compile_guards {
  const protections* with = nullptr;  // null: no sandbox, for the user's own files
  std::vector<std::filesystem::path> extra =
      {};  // headers, and folders of them, that it may include
  // Limit for the compiler and all its child processes.
  std::uint64_t memory_bytes = std::uint64_t{3} << 30;
  double limit_s = compile_limit_s;
  // A judged program must not know its file's name, which the author could choose after the last
  // grade. __FILE__, line tables and the program's own path depend only on the content. They name a
  // copy of the file in the cache, `known_as`. Compiler messages name the file itself.
  bool hides_name = false;
};

// The name of the copy that `hides_name` makes. In a report, it means the student's file.
inline constexpr const char* hidden_name = "submission.cu";

struct compile_progress {
  std::function<void(const std::string&)> doing;
  std::function<void()> tick;
};

// Throws failure(environment) without a compiler, space or memory, and failure(usage) if there is
// no such file.
compiled compile_submission(const lab& l, const std::filesystem::path& file,
                            const installation& where, const compile_progress& progress,
                            const compile_guards& guards = {});

// Like compile_submission(), for a step on a GPU for which the build has no code (code_for() in
// installation.hpp). The program is kept in build/other-gpus.
compiled compile_step(const lab& l, const std::filesystem::path& file, const installation& where,
                      const compile_progress& progress);

// The file with another text that has the same lines, so messages name the file. Several threads
// may compile at the same time.
struct file_variant {
  std::string source;
  std::vector<std::string> flags;  // nvcc's, in addition to the usual flags
};
compiled compile_variant(const lab& l, const std::filesystem::path& file,
                         const file_variant& variant, const installation& where,
                         const compile_progress& progress);

}  // namespace stepwise
