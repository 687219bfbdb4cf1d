// What of a program is recorded, and reading what was: for record, exec and play.
#pragma once

#include <string>

#include "common/report/recording.hpp"
#include "grader/cli/arguments.hpp"
#include "grader/system/files.hpp"

namespace stepwise::cli {

struct recorded_choice {
  std::uint64_t launch = 1, first = 1, steps = 400;
  std::string block = "0", warps = "0";
};
void take_choice(arguments& takes, recorded_choice& o);

// As STEPWISE_RECORD_OF has it; failure(usage) if it is nothing that can be recorded.
std::string words_of(const recorded_choice& o);

// failure(usage), naming the file, if it is not there or no recorded warp of this version.
warp_recording read_recording(const fs::path& file);

inline std::string play_command(const std::string& lab_name, const std::string& step_name) {
  return "./lab play " + lab_name + " " + step_name + ": a warp at work, lane by lane";
}

// failure(usage) if the launch has no such block or warp.
void require_steps(const warp_recording& r, const recorded_choice& o);

// "block 0, warp 0: 140 instructions", and what is missing of them.
std::string kept_text(const warp_recording& r);

// "line 27: 16 of 32 lanes active, shared load, 2 wavefronts (ideally 1)"
std::string step_text(const warp_recording& r, const warp_recording::step& s);

}  // namespace stepwise::cli
