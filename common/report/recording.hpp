// A recording of some warps of one block, instruction by instruction, as data for display.
//
// idea    A step is one execution of an instruction by a warp. Data that is the same for every
//         execution (text, line, written registers) is stored once, in `instructions`. Values are
//         rows of 32 lanes. In JSON, a row that follows a rule is written as the rule, and equal
//         rows are written once. A few hundred steps therefore take tens of kilobytes.
// watch   A file may come from anywhere, so parse_recording() rejects unexpected content.
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

// A value or an address per lane. The entries of inactive lanes are meaningless.
struct lane_row {
  std::uint8_t bytes = 4;  // per value; 0: a predicate, of[0] has one bit per lane
  std::int32_t area = -1;  // values are offsets in this entry of `areas`; -1: absolute
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
    std::map<std::uint32_t, std::string> lines;  // with instructions
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
    std::string note;  // how the machine code differs, or what an asynchronous instruction begins
  };
  struct access {
    std::string kind, space;  // "load", "store", "atomic"; "global", "shared", "local"
    std::uint32_t lanes = 0;
    unsigned bytes = 0;   // per lane
    bool counted = true;  // false: the machine code has no such access
    lane_row at;          // addresses; for shared and local memory, offsets
    // Sectors for global and local memory, wavefronts for shared memory. `ideal` is for the same
    // lanes with neighbouring elements, or without bank conflicts.
    unsigned taken = 0, ideal = 0;
    std::vector<lane_row> stored;  // words in shared memory after a store
  };
  struct fill {  // words of shared memory written meanwhile by a warp that is not recorded
    std::uint32_t warp = 0, first = 0, count = 1, stride = 1;  // every stride-th word
  };
  struct barrier_use {  // of an mbarrier, by some lanes
    std::string
        use;  // "begins", "arrives", "passes" (a wait that succeeds), "polls" (one that fails)
    std::uint64_t at = 0;  // an offset in the shared memory of the cluster
    std::uint32_t lanes = 0;
    // After the instruction: the current phase, and the arrivals and bytes that it waits for.
    unsigned parity = 0, arrivals = 0;
    std::int32_t bytes = 0;
  };
  struct step {
    std::uint32_t instruction = 0, warp = 0;
    std::uint32_t mask = 0, active = 0;  // current lanes; those whose guard holds
    std::vector<lane_row> values;        // of the written registers; empty if unknown
    std::vector<access> accesses;
    std::vector<barrier_use> barriers;
    std::vector<fill> fills;  // before this step
  };

  std::string gpu, kernel, failure;  // `failure`: why the launch failed, if it did
  extent grid, block;
  std::uint64_t launch = 1, block_index = 0;
  std::vector<std::uint32_t> warps;  // recorded
  std::uint32_t warps_of_block = 0;
  std::uint64_t executed = 0;  // steps of these warps; truncated if above steps.size()
  std::uint64_t shared_bytes = 0;
  std::vector<area> areas, variables;  // allocations; variables in shared memory
  std::vector<source_file> files;
  std::vector<instruction> instructions;
  std::vector<step> steps;
  json origin = json::object();  // more keys from the recording program: lab, step, size

  bool is_cut() const { return executed > steps.size(); }
};

// A JSON object with one line per list element.
std::string recording_text(const warp_recording& r);

// Throws json_error with a message that reads well after the file's name.
warp_recording parse_recording(std::string_view text);

// The use of an mbarrier as text, for example "mbarrier full + 8: arrived; its phase of parity 0
// waits for 4096 bytes".
std::string barrier_text(const warp_recording& r, const warp_recording::barrier_use& b);

// A lane's value as text, for example "-3", "0.5" or "in + 128".
std::string value_text(const warp_recording& r, const lane_row& row, std::string_view type,
                       int lane);

}  // namespace stepwise
