// The commands of one nvcc compilation, arranged so that independent commands run at the same time.
//
// idea    `nvcc --dryrun` prints the commands that nvcc would run one after the other. The host
//         compiler's preprocessor, cicc, ptxas and fatbinary are the device half; the preprocessor
//         and cudafe++ are the host half. The halves share only one file, the module id, which
//         cudafe++ invents and cicc puts into the names of static objects. Here the id is written
//         first, and both halves read it. The host compiler's last run needs the output of cudafe++
//         and cicc. Only its assembler needs the machine code, which fatbinary would write as C++,
//         so the host compiler runs at the same time as ptxas.
// watch   nvcc's output is not a stable interface. If a line is not as expected, there is no
//         script. If the script fails, nvcc itself must run. All messages are therefore nvcc's own.
// Tested by tests/nvcc_passes_test.cpp; by names_cli_test.cpp with nvcc itself.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stepwise {

struct nvcc_passes {
  std::vector<std::string> environment;  // NAME=value, for all commands
  // Files to write first: the id, and the C++ that replaces the machine code.
  std::filesystem::path module_id, stand_in;
  std::string stand_in_text;
  std::filesystem::path kernels;             // the fat binary, written by the script
  std::string script;                        // shell code
  std::vector<std::filesystem::path> rules;  // make rules with the headers, written by the script
};

// The script's exit code if cudafe++ refused the source. Its output equals nvcc's output.
inline constexpr int host_half_refused = 99;

// `printed` is the stderr of `nvcc ARGUMENTS -c FILE.cu -o OBJECT --dryrun`. Make rules are written
// into `folder`, whose name must satisfy is_plain().
std::optional<nvcc_passes> side_by_side(std::string_view printed,
                                        const std::filesystem::path& folder);

}  // namespace stepwise
