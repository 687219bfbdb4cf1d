// A recorded warp: what some warps of one block did, instruction by instruction: data for display.
//
// idea    A step is one instruction that a warp executed. What does not change from one execution
//         to the next (text, line, what it writes) stands once, in `instructions`. Values are rows
//         of 32 lanes; in JSON a row that follows a rule is written as the rule, and a row that
//         occurs twice stands once. So some hundred steps take tens of kilobytes.
// watch   A file may come from anywhere: parse_recording() refuses what it does not expect.
// tests   tests/recording_test.cpp; the keys are documented in grader/JSON.md
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/device/device.hpp"
#include "common/formats/json.hpp"

namespace stepwise {

// A value of each lane, or an address. Those of lanes that took no part mean nothing.
struct lane_row {
  std::uint8_t bytes = 4;  // of a value; 0: a predicate, of[0] has a bit for each lane
  std::int32_t area =
      -1;  // values are bytes from the start of this one of `areas`; -1: as they are
  std::array<std::uint64_t, 32> of{};
};

struct warp_recording {
  static constexpr int version = 1;
  static constexpr std::uint64_t most_steps = 20000;
  static constexpr std::uint64_t most_bytes = 64 << 20;  // of a file

  struct area {  // an allocation, or a shared variable
    std::string name;
    std::uint64_t offset = 0, bytes = 0;  // offset: of a shared variable
  };
  struct source_file {
    std::string path;
    std::map<std::uint32_t, std::string> lines;  // those that instructions come from
  };
  struct written_register {
    std::string name, type;  // "%r4", "s32"; "pred"
  };
  struct instruction {
    std::string ptx, kind;  // "ld.global.u32 %r4, [%rd3]", "load"
    std::uint32_t ptx_line = 0;
    std::int32_t file = -1;  // into files; -1: unknown
    std::uint32_t line = 0;
    std::string inner;  // the function inlined into that line, if any
    std::vector<written_register> writes;
    std::string note;  // what the machine code makes of it, where that differs
  };
  struct access {
    std::string kind, space;  // "load", "store", "atomic"; "global", "shared", "local"
    std::uint32_t lanes = 0;
    unsigned bytes = 0;   // of a lane
    bool counted = true;  // false: the machine code has no such access
    lane_row at;          // addresses; in shared and local memory offsets
    // Sectors of global and local memory, wavefronts of shared memory; and what the same lanes
    // would take with neighbouring elements, or without bank conflicts.
    unsigned taken = 0, ideal = 0;
    std::vector<lane_row> stored;  // to shared memory: the words that were there afterwards
  };
  struct fill {  // words of shared memory that a warp which is not recorded has written meanwhile
    std::uint32_t warp = 0, first = 0, count = 1, stride = 1;  // every stride-th word
  };
  struct step {
    std::uint32_t instruction = 0, warp = 0;
    std::uint32_t mask = 0, active = 0;  // of the lanes that are here, those whose guard holds
    std::vector<lane_row> values;        // of the registers written; empty: not known
    std::vector<access> accesses;
    std::vector<fill> fills;  // before it
  };

  std::string gpu, kernel, failure;  // `failure`: how the launch ended, if it failed
  extent grid, block;
  std::uint64_t launch = 1, block_index = 0;
  std::vector<std::uint32_t> warps;  // recorded
  std::uint32_t warps_of_block = 0;
  std::uint64_t executed = 0;  // by these warps in all; more than there are steps: it is cut
  std::uint64_t shared_bytes = 0;
  std::vector<area> areas, variables;  // allocations; what lies in shared memory
  std::vector<source_file> files;
  std::vector<instruction> instructions;
  std::vector<step> steps;
  json origin = json::object();  // further keys: lab, step, size ... of whoever had it recorded

  bool is_cut() const { return executed > steps.size(); }
};

// An object, a line for each element of its lists.
std::string recording_text(const warp_recording& r);

// Throws json_error, in words that follow the file's name.
warp_recording parse_recording(std::string_view text);

// A lane's value as people read it: "-3", "0.5", "in + 128".
std::string value_text(const warp_recording& r, const lane_row& row, std::string_view type,
                       int lane);

}  // namespace stepwise
