// Asks the dynamic loader which libraries it would load for a program.
//
// idea    This code runs `ld-linux-x86-64.so.2 --list PROGRAM`, as ldd does. That command resolves
//         RPATH, RUNPATH, LD_LIBRARY_PATH and the cache by the loader's own rules, and runs no code
//         of the program.
// Tested by cli/tests/exec_test.cpp.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace stepwise {

namespace fs = std::filesystem;

struct loaded_library {
  std::string name;  // as requested: "libcudart.so.13"
  fs::path file;     // empty: not found
};

// `interpreter` is the program's own (PT_INTERP), and `environment` has the changes to our
// environment. nullopt if the loader is not glibc's or does not answer.
std::optional<std::vector<loaded_library>> libraries_of(
    const fs::path& program, const std::string& interpreter,
    const std::vector<std::string>& environment);

// A library's file: the loader's choice with our own environment, or otherwise the first match in
// `folders`. Empty if there is none.
fs::path find_library(const std::string& name, const fs::path& program,
                      const std::string& interpreter, const std::vector<fs::path>& folders);

}  // namespace stepwise
