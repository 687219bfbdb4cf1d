// The functions of the CUDA runtime that kernels may call, as PTX names them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "common/emulator/machine/program.hpp"

namespace stepwise::emulator {

struct runtime_form {
  runtime_function which;
  std::vector<std::uint64_t> arguments;  // their sizes in bytes
  std::uint64_t result_bytes = 4;
};

// The function `name` ("__cudaCDP2LaunchDeviceV2"); null if it is not implemented.
const runtime_form* find_runtime_form(std::string_view name);

}  // namespace stepwise::emulator
