// Checks a GPU before submissions use it: that it works, that its memory holds no other user's
// data, and which sandbox its server can run in.
//
// idea    In probe mode, the server's program makes a context and overwrites all free memory. The
//         program first runs in the full sandbox. If the driver does not start there (no user
//         namespaces, or nodes that a container hides), fewer layers are tried, and the missing
//         layers are reported. A GPU that fails in all cases is in quarantine: nothing is graded on
//         it until a probe succeeds.
// Tested by tests/gpu_care_test.cpp with fake servers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "grader/judge/device_choice.hpp"
#include "grader/system/process.hpp"

namespace stepwise {

struct gpu_care {
  server_walls walls = server_walls::none;
  std::uint64_t overwritten_bytes = 0;
  std::string missing;  // missing layers, and why; empty: none
};

// Throws failure(environment) if the GPU does not answer.
gpu_care look_after_gpu(const device_choice& device);

}  // namespace stepwise
