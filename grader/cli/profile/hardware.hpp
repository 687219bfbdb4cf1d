// One call of a lab's program under ncu, in the same form as a modelled call.
// Tested by cli/tests/ncu_cli_test.cpp with a script in ncu's place.
#pragma once

#include <string>
#include <vector>

#include "grader/cli/context.hpp"
#include "grader/model/modelled.hpp"
#include "grader/validation/ncu.hpp"

namespace stepwise::cli {

// --source: the sources of figures, in the order in which they are tried.
struct profile_sources {
  bool ncu = false;    // first
  bool model = false;  // after ncu, or alone

  // "model", "ncu" or "ncu,model"; failure(usage) for anything else.
  static profile_sources parse(const std::string& text);
};

struct measured_call {
  modelled_figures m;
  std::string counted_by;            // "ncu 2025.3.1.0"
  std::vector<ncu_launch> launches;  // as ncu reported them
  device_choice device;
};

// The id of this machine's GPU description. Empty if there is no GPU. Throws failure(environment)
// if the GPU has no description.
std::string id_of_own_gpu(const device_choice& device);

// Throws failure(environment), whose single message names what is missing and what to do about it.
measured_call call_under_ncu(context& c, const problem& p, const fs::path& program,
                             const lab_size& size, std::uint64_t seed, const device_choice& device,
                             const gpu& model, ncu_lines lines = ncu_lines::counted);

}  // namespace stepwise::cli
