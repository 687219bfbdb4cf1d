// Makes recordings of a lab's calls, and keeps those that the course lists.
//
// idea    solutions/LAB/recorded.txt lists the steps with a recording: a name, then the words of
//         STEPWISE_RECORD_OF that differ from the defaults. The emulator makes the same recording
//         each time. A recording is therefore made when it is first needed, and kept in
//         build/recorded/ under a hash of everything that it depends on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/report/recording.hpp"
#include "grader/cli/context.hpp"

namespace stepwise::cli {

struct recorded_call {
  std::string size;  // empty: the lab's size for figures
  std::uint64_t seed = 7;
  std::string words;  // in the format of STEPWISE_RECORD_OF
};

// Makes one call of `s` with the recorder on. `step` is empty if `s` is a file. Returns nullopt if
// the call has too few launches.
std::optional<warp_recording> record_call(context& c, const lab& l, const subject& s,
                                          const recorded_call& call, const std::string& step);

// The file of a listed step's recording. The recording is made if the build folder has none that is
// up to date. Throws failure(usage) if the step is not listed.
fs::path course_recording(context& c, const lab& l, const step& s);

}  // namespace stepwise::cli
