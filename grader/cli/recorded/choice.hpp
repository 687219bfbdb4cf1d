// Selects the part of a program to record, and reads recordings. Used by record, exec and play.
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

// The choice as STEPWISE_RECORD_OF expects it. Throws failure(usage) if it cannot be recorded.
std::string words_of(const recorded_choice& o);

// Throws failure(usage), naming the file, if the file is missing or not a recording of this
// version.
warp_recording read_recording(const fs::path& file);

inline std::string play_command(const std::string& lab_name, const std::string& step_name) {
  return "./lab play " + lab_name + " " + step_name + ": a warp at work, lane by lane";
}

// Throws failure(usage) if the launch has no such block or warp.
void require_steps(const warp_recording& r, const recorded_choice& o);

// "block 0, warp 0: 140 instructions", and how many were not kept.
std::string kept_text(const warp_recording& r);

// "line 27: 16 of 32 lanes active, shared load, 2 wavefronts (ideally 1)"
std::string step_text(const warp_recording& r, const warp_recording::step& s);

}  // namespace stepwise::cli
