// A GPU before submissions use it: is it well, does its memory hold nothing of others', and which
// walls does its server live with?
//
// idea    The server's program, told to probe, makes a context and overwrites all free memory. It
//         is tried in the sandbox first; where the driver does not start there (no user
//         namespaces, nodes that a container does not show) with fewer walls, and what is missing
//         is told. A GPU that answers none of them is in quarantine: nothing is graded on it until
//         a probe succeeds.
// Tested by tests/gpu_care_test.cpp with servers that only pretend.
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
  std::string missing;  // the walls that are, and why; empty: none
};

// failure(environment) if the GPU does not answer.
gpu_care look_after_gpu(const device_choice& device);

}  // namespace stepwise
