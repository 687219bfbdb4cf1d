// What one access of a warp costs the hardware: sectors of global and local memory, wavefronts of
// shared memory.
//
// idea    Pure functions of the lanes' addresses. Every rule here was found by asking an H200's
//         counters with one warp and one access per launch; the tests hold them against the answers
//         recorded in tests/measured/.
// Tested by tests/requests_test.cpp.
#pragma once

#include <algorithm>
#include <cstdint>

#include "common/emulator/machine/access_shape.hpp"

namespace stepwise::emulator {

inline constexpr unsigned line_bytes = 128, sector_bytes = 32;

// How many of a line's four sectors: the digits are the numbers of bits of 0 ... 15.
constexpr unsigned sectors_in(std::uint32_t mask) {
  return static_cast<unsigned>((std::uint64_t{0x4332322132212110} >> (4 * mask)) & 0xf);
}

// A line of 128 bytes and which of its four sectors a request touches.
struct touched_line {
  std::uint64_t line;     // address / 128
  std::uint32_t sectors;  // bit s: bytes 32 s ... 32 s + 31
};

// A request of global or local memory, taken apart.
struct touched_lines {
  unsigned count = 0;
  unsigned sectors = 0;
  touched_line lines[128];  // in the order in which the lanes come to them
};

// `address`: of each lane; those of lanes that are not `active` are not looked at. `bytes`: 1 to 16
// of each lane, at multiples of that.
void touch(const std::uint64_t* address, std::uint32_t active, unsigned bytes, touched_lines& out);

// Like the above, for accesses that lie in few runs, `from` being the address of the shape's first
// lane: whole runs at once.
void touch_runs(std::uint64_t from, const access_shape& shape, unsigned bytes, touched_lines& out);

// The same in local memory, where `offset` counts in the lane's own bytes. The hardware keeps the
// same word of 32 lanes in one line; `first_line` is that of word 0 of this warp.
void touch_local(const std::uint64_t* offset, std::uint32_t active, unsigned bytes,
                 std::uint64_t first_line, touched_lines& out);

// An atomic operation takes a sector once for every lane that has the same address in it: lanes
// that meet take turns. More sectors, then, than lines have; those of `out` are only the places.
// 420 of 471 recorded accesses fit. The others take 1 to 4 sectors more, and all touch two lines
// that share a bank of L1's tags; how lanes take turns then is not known.
unsigned atomic_sectors(const std::uint64_t* address, std::uint32_t active, touched_lines& out);

// Keeps, of the active lanes, only the first one at each address.
std::uint32_t one_lane_per_address(const std::uint64_t* address, std::uint32_t active);

// The sectors that as many adjacent lanes would take, or that were taken, if those are fewer.
constexpr unsigned ideal_sectors(unsigned active_lanes, unsigned bytes, unsigned sectors) {
  return std::min(sectors, (active_lanes * bytes + sector_bytes - 1) / sector_bytes);
}

enum class shared_use : std::uint8_t {
  load,
  store,
  atomic,            // one that the hardware has
  compare_and_swap,  // atomic too, in two passes
  rows               // ldmatrix, stmatrix: each lane gives the address of 16 bytes
};

// The wavefronts of a request to shared memory. `offset`, `bytes`: as above. Bank b has the words
// with number b modulo 32.
unsigned wavefronts(shared_use use, const std::uint64_t* offset, std::uint32_t active,
                    unsigned bytes);
// Like the above, for cp.async: `from` is what each lane reads (0: nothing, the lane writes zeros).
// `around_l1`: it is cp.async.cg.
unsigned copy_wavefronts(const std::uint64_t* from, const std::uint64_t* offset,
                         std::uint32_t active, unsigned bytes, bool around_l1);
// The sectors that cp.async.cg takes beyond those that its lanes touch: where several lanes read
// the same 16 bytes, once more for every sector that they write.
unsigned sectors_again(const std::uint64_t* from, const std::uint64_t* offset,
                       std::uint32_t active);
// Those that it would take without bank conflicts; not more than it takes.
unsigned ideal_wavefronts(shared_use use, std::uint32_t active, unsigned bytes, unsigned taken);

// Atomics that the hardware has not got in shared memory (f32 and f64 sums, most 64-bit ones) are
// loops in the machine code: load, compute, compare and swap, until every lane has succeeded.
struct swap_loop {
  unsigned rounds = 0;  // each is a request to load and a request to compare and swap
  unsigned load_wavefronts = 0, swap_wavefronts = 0;
};
swap_loop loop_of(const std::uint64_t* offset, std::uint32_t active, unsigned bytes);

}  // namespace stepwise::emulator
