// The messages of a CUDA compiler: their texts, their lines, and their form on a terminal.
//
// Tested by tests/diagnostics_test.cpp.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "grader/judge/installation.hpp"

namespace stepwise {

// One message of a compiler, with the line it points to.
struct diagnostic {
  std::string file;  // as the compiler names it; empty for the linker
  int line = 0;      // from 1; 0: unknown
  int column = 0;    // from 1; 0: unknown
  std::string message;
  std::string at_caret;  // excerpt from the caret on; nvcc expands the macros before it
};

// The errors in the output of nvcc, the host compiler, ptxas and the linker, in order.
std::vector<diagnostic> parse_diagnostics(const std::string& text);

// The warnings of nvcc's front end and of ptxas in their output, in order. Those of ptxas have no
// file and no line.
std::vector<diagnostic> parse_warnings(const std::string& text);

// Files whose lines a message may quote, because a #line can give a student's text any file's name.
struct quotable {
  std::filesystem::path file;                  // the compiled file, by its own name
  std::vector<std::filesystem::path> folders;  // with headers, links resolved
  bool allows(const std::filesystem::path& file) const;
};
// Allows headers of the toolkit, the system and common/lab, and the files in `more`.
quotable quotable_for(const std::filesystem::path& file, const installation& where,
                      const std::vector<std::filesystem::path>& more);

// The first error as several lines for a terminal: what, where, the source line and a caret.
// `count` is the number of errors.
std::vector<std::string> explain(const diagnostic& first, std::size_t count,
                                 const installation& where, const quotable& sources);

}  // namespace stepwise
