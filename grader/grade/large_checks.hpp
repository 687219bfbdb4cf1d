// The emulator's checks at sizes as large as the timed ones, on a sample of the blocks.
//
// idea    All checks at a large size would take longer than the rest of a grade. Therefore, only a
//         few of a launch's blocks run (common/emulator/block_sample.hpp). That is enough to see
//         that a barrier is missing for large n. Results of such a call mean nothing, and a later
//         kernel may read data that was never written. Its findings are therefore only a suspicion,
//         and the call is checked again with all of its blocks.
// Tested by grader/tests/attacks/results and cli/tests/judged_cli_test.cpp.
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "grader/judge/check.hpp"

namespace stepwise {

// The sizes at which this lab's calls are counted or timed on the emulator, and those of
// lab::drawn_large, without sizes whose checks run on all blocks anyway.
std::vector<lab_size> large_sizes(const lab& l, const problem& p);

struct large_report {
  call_outcome found;  // MEMORY if the checks did not fit: nothing is known
  std::vector<located_finding> findings;
  std::string label;  // the call with these findings
};

// Finds errors at these sizes. A sampled call that fails in another way is only a suspicion, too,
// because the grade makes each of these calls without checks. `emulator` must be the emulator.
large_report check_large(const lab& l, const problem& p, const std::filesystem::path& program,
                         const device_choice& emulator, const std::vector<lab_size>& sizes,
                         std::uint64_t seed, const activity& now);

}  // namespace stepwise
