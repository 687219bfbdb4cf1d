// Compiles a student's .cu and links it with its lab's runner, with a cache.
//
// idea    The same flags as Meson uses for the solutions; nvcc's passes run in parallel where
//         their list is as expected (nvcc_passes.hpp). A program is kept in build/submissions under
//         the hash of its source, its flags and the runner, and is used again only while every
//         header that it included is unchanged. What a sweep makes of a file is kept apart, in
//         build/sweeps, and what --gpu makes of a step in build/other-gpus, so that they do not
//         push out what a student works on.
// Tested by tests/compile_test.cpp and cli/tests/ptx_test.cpp.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "grader/course/lab.hpp"
#include "grader/judge/installation.hpp"
#include "grader/system/process.hpp"

namespace stepwise {

struct protections;

// The flag that leaves out the special functions of <cmath> and what those include, a third of
// nvcc's time for a small file; Meson compiles the course with it (see meson.build). A file that it
// does not compile, say for std::min without <algorithm>, is compiled once more without it.
inline constexpr const char* no_special_functions = "-D_GLIBCXX_BITS_SPECFUN_H";

// One message of a compiler, with the line it points to.
struct diagnostic {
  std::string file;  // as the compiler names it; empty for the linker
  int line = 0;      // from 1; 0: unknown
  int column = 0;    // from 1; 0: unknown
  std::string message;
  std::string at_caret;  // the excerpt from the caret on: nvcc expands macros before it
};

// The errors in what nvcc, the host compiler, ptxas and the linker print, in order.
std::vector<diagnostic> parse_diagnostics(const std::string& text);

// Files whose lines may stand in a message: a #line can give any file's name to a student's text.
struct quotable {
  std::filesystem::path file;                  // the one that is compiled; by its own name
  std::vector<std::filesystem::path> folders;  // with headers, links resolved
  bool allows(const std::filesystem::path& file) const;
};
// Headers of the toolkit, of the system and common/lab, and what `more` holds.
quotable quotable_for(const std::filesystem::path& file, const installation& where,
                      const std::vector<std::filesystem::path>& more);

// The first error as several lines for a terminal: what, where, the source line and a caret.
// `count` is the number of errors.
std::vector<std::string> explain(const diagnostic& first, std::size_t count,
                                 const installation& where, const quotable& sources);

// Of all compilers of a file together.
inline constexpr double compile_limit_s = 180;

struct compiled {
  std::filesystem::path program;  // empty if it does not compile; kernels_of() lies beside it
  bool cached = false;
  double seconds = 0;
  std::vector<std::string> explanation;  // if it does not compile; the first line is the summary
  std::string log;                       // all that the compiler printed, if it does not compile
  bool out_of_memory = false;            // it does not because of the limit of memory
  std::filesystem::path known_as;        // the program's name for its source: see hides_name
};

// A file that is compiled in a sandbox, and alone: what lies beside it is not seen.
struct compile_guards {
  const protections* with = nullptr;  // null: as the user's own files
  std::vector<std::filesystem::path> extra =
      {};  // headers, and folders of them, that it may include
  // Of the compiler with all that it starts.
  std::uint64_t memory_bytes = std::uint64_t{3} << 30;
  double limit_s = compile_limit_s;
  // A judged program must not know its file's name, which its author chose after the last grade.
  // __FILE__, line tables and the program's own path depend on the content alone. They name a copy
  // in the cache, `known_as`. Compiler messages name the file itself.
  bool hides_name = false;
};

// The name of that copy. A report that quotes it means the student's file.
inline constexpr const char* hidden_name = "submission.cu";

struct compile_progress {
  std::function<void(const std::string&)> doing;
  std::function<void()> tick;
};

// For a compiler that failed: failure(environment) if the disk, the memory, a missing host compiler
// or a signal is why. `output` is the folder that it wrote to. One of nvcc's programs that crashes
// is none of these: the source can be the reason.
void refuse_what_is_not_the_students_fault(const child_result& result,
                                           const std::filesystem::path& output);

// failure(environment) if there is no compiler, no space or no memory; failure(usage) if there is
// no such file.
compiled compile_submission(const lab& l, const std::filesystem::path& file,
                            const installation& where, const compile_progress& progress,
                            const compile_guards& guards = {});

// The same of a step's file for a GPU that the build has no code for (code_for() in
// installation.hpp); kept in build/other-gpus.
compiled compile_step(const lab& l, const std::filesystem::path& file, const installation& where,
                      const compile_progress& progress);

// The file with another text, which has its lines: messages name the file. Several threads may
// compile at once.
struct file_variant {
  std::string source;
  std::vector<std::string> flags;  // nvcc's, beside the usual ones
};
compiled compile_variant(const lab& l, const std::filesystem::path& file,
                         const file_variant& variant, const installation& where,
                         const compile_progress& progress);

}  // namespace stepwise
