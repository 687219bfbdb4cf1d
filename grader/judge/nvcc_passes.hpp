// The commands of one nvcc compilation, arranged so that what does not need each other runs at the
// same time.
//
// idea    `nvcc --dryrun` prints what nvcc would run, one after the other: the host compiler's
//         preprocessor, cicc, ptxas and fatbinary make the device half; the preprocessor and
//         cudafe++ make the host half. Between the halves there is one file only, the module id,
//         which cudafe++ makes up and cicc puts into the names of static things. Here it is written
//         before both, and both read it. The host compiler's last run needs what cudafe++ and cicc
//         wrote; the machine code, which fatbinary would write as C++, only its assembler does: the
//         compiler runs beside ptxas.
// watch   What nvcc prints is no interface. Where a line is not as expected there is no script, and
//         where the script fails, nvcc itself is to be run: so all messages are nvcc's.
// Tested by tests/nvcc_passes_test.cpp; by names_cli_test.cpp with nvcc itself.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stepwise {

struct nvcc_passes {
  std::vector<std::string> environment;  // NAME=value, of all commands
  // To be written before: the id, and the C++ that stands for the machine code.
  std::filesystem::path module_id, stand_in;
  std::string stand_in_text;
  std::filesystem::path kernels;             // the fat binary, which the script writes
  std::string script;                        // for a shell
  std::vector<std::filesystem::path> rules;  // make rules with the headers, which the script writes
};

// The script's exit code if cudafe++ refused the source: what it printed is what nvcc prints.
inline constexpr int host_half_refused = 99;

// `printed`: what `nvcc ARGUMENTS -c FILE.cu -o OBJECT --dryrun` wrote to stderr. Make rules are
// written into `folder`, whose name is_plain().
std::optional<nvcc_passes> side_by_side(std::string_view printed,
                                        const std::filesystem::path& folder);

}  // namespace stepwise
