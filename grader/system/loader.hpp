// What the dynamic loader would load for a program, as the loader itself says.
//
// idea    `ld-linux-x86-64.so.2 --list PROGRAM`, which is what ldd does: it resolves RPATH,
//         RUNPATH, LD_LIBRARY_PATH and the cache by its own rules, and runs nothing of the program.
// Tested by cli/tests/exec_test.cpp.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace stepwise {

namespace fs = std::filesystem;

struct loaded_library {
  std::string name;  // as it was asked for: "libcudart.so.13"
  fs::path file;     // empty: not found
};

// `interpreter`: the program's own (PT_INTERP). `environment`: changes to ours. nullopt where it
// cannot be asked: it is not glibc's, or it does not answer.
std::optional<std::vector<loaded_library>> libraries_of(
    const fs::path& program, const std::string& interpreter,
    const std::vector<std::string>& environment);

// The file of one of them: the loader's choice with our own environment, else the first one that
// is in one of the folders. Empty: none is there.
fs::path find_library(const std::string& name, const fs::path& program,
                      const std::string& interpreter, const std::vector<fs::path>& folders);

}  // namespace stepwise
