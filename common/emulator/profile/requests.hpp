// The hardware cost of a warp's access: sectors of global and local memory, wavefronts of shared
// memory.
//
// idea    These are pure functions of the lanes' addresses. Every rule here was found with an
//         H200's counters, using one warp and one access per launch. The tests compare the results
//         with the counts recorded in tests/measured/.
// Tested by tests/requests_test.cpp.
#pragma once

#include <algorithm>
#include <cstdint>

#include "common/emulator/machine/access_shape.hpp"

namespace stepwise::emulator {

inline constexpr unsigned line_bytes = 128, sector_bytes = 32;

// The number of sectors in a mask of a line's four. The digits are the bit counts of 0 ... 15.
constexpr unsigned sectors_in(std::uint32_t mask) {
  return static_cast<unsigned>((std::uint64_t{0x4332322132212110} >> (4 * mask)) & 0xf);
}

// A line of 128 bytes and which of its four sectors a request touches.
struct touched_line {
  std::uint64_t line;     // address / 128
  std::uint32_t sectors;  // bit s: bytes 32 s ... 32 s + 31
};

// A request to global or local memory, split into lines.
struct touched_lines {
  unsigned count = 0;
  unsigned sectors = 0;
  touched_line lines[128];  // in the order in which the lanes touch them
};

// `address`: one per lane; the addresses of lanes that are not `active` are ignored. `bytes`: 1 to
// 16 per lane; addresses are multiples of this number.
void touch(const std::uint64_t* address, std::uint32_t active, unsigned bytes, touched_lines& out);

// Like touch(), for accesses that form only a few runs, which are added whole. `from`: the address
// of the shape's first lane.
void touch_runs(std::uint64_t from, const access_shape& shape, unsigned bytes, touched_lines& out);

// Like touch(), in local memory, where `offset` counts a lane's own bytes. The hardware keeps the
// same word of 32 lanes in one line; `first_line` is the line of this warp's word 0.
void touch_local(const std::uint64_t* offset, std::uint32_t active, unsigned bytes,
                 std::uint64_t first_line, touched_lines& out);

// An atomic takes a sector once per lane with the same address in it, because such lanes are
// serialised. The result may exceed the sectors in `out`, which has each sector once. 420 of 471
// recorded accesses fit. The others take 1 to 4 sectors more, and all of them touch two lines that
// share a bank of L1's tags. How lanes are serialised in that case is not known.
unsigned atomic_sectors(const std::uint64_t* address, std::uint32_t active, touched_lines& out);

// Keeps, of the active lanes, only the first one at each address.
std::uint32_t one_lane_per_address(const std::uint64_t* address, std::uint32_t active);

// The sectors that the same number of adjacent lanes would take, but at most `sectors`.
constexpr unsigned ideal_sectors(unsigned active_lanes, unsigned bytes, unsigned sectors) {
  return std::min(sectors, (active_lanes * bytes + sector_bytes - 1) / sector_bytes);
}

enum class shared_use : std::uint8_t {
  load,
  store,
  atomic,            // executed by the hardware
  compare_and_swap,  // atomic too, in two passes
  rows               // ldmatrix, stmatrix: each lane gives the address of 16 bytes
};

// The wavefronts of a request to shared memory. `offset` and `bytes` are as in touch(). Bank b
// holds the words whose number is b modulo 32.
unsigned wavefronts(shared_use use, const std::uint64_t* offset, std::uint32_t active,
                    unsigned bytes);
// Like wavefronts(), for cp.async. `from`: the address that each lane reads (0: the lane writes
// zeros). `around_l1`: the instruction is cp.async.cg.
unsigned copy_wavefronts(const std::uint64_t* from, const std::uint64_t* offset,
                         std::uint32_t active, unsigned bytes, bool around_l1);
// The sectors that cp.async.cg takes beyond those that its lanes touch. If several lanes read the
// same 16 bytes, the bytes are read again for every sector that the lanes write.
unsigned sectors_again(const std::uint64_t* from, const std::uint64_t* offset,
                       std::uint32_t active);
// The wavefronts without bank conflicts, at most `taken`.
unsigned ideal_wavefronts(shared_use use, std::uint32_t active, unsigned bytes, unsigned taken);

// Shared-memory atomics that the hardware lacks (f32 and f64 sums, most 64-bit ones) are loops in
// the machine code: load, compute, compare and swap, until every lane has succeeded.
struct swap_loop {
  unsigned rounds = 0;  // each is a request to load and a request to compare and swap
  unsigned load_wavefronts = 0, swap_wavefronts = 0;
};
swap_loop loop_of(const std::uint64_t* offset, std::uint32_t active, unsigned bytes);

}  // namespace stepwise::emulator
