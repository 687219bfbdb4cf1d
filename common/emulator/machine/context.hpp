// The state that an executing operation sees, and the operation itself.
//
// idea    A kernel is lowered once into an array of `op`s. Each holds a function that works on all
//         32 lanes of a warp and returns the op to continue with, or null to return to the
//         scheduler. Registers are vector registers (vregs) of 32 lanes in one block of memory per
//         warp. Every operand is a vreg, even a constant, parameter or special register, so an
//         operation has one form.
// watch   Operations are compiled several times for different instruction sets (see meson.build),
//         so nothing here may be an inline function with external linkage.
#pragma once

#include <cstddef>
#include <cstdint>

#include "common/device/access_counts.hpp"

namespace stepwise::emulator {

inline constexpr int lanes = 32;
inline constexpr std::uint32_t all_lanes = 0xffffffffu;

struct op;
struct context;
using handler = const op* (*)(context&, const op*);

// A decoded operation: 40 bytes. d, a, b, c are byte offsets of vector registers in the warp's
// registers, unless the operation's comment says otherwise.
struct op {
  handler run;
  std::uint32_t d, a, b, c;
  std::int64_t immediate;  // memory: byte offset; branch: index of the target op
  std::uint32_t ordinal;   // PTX instructions before this op in the kernel
  std::uint32_t slot;      // memory: index into context::windows; synchronising: into a side table
};

// The allocation that a memory operation touched last: addresses base .. base + bytes - 1.
struct access_window {
  std::uint64_t base = 0;
  std::uint64_t bytes = 0;
};

// The start of the last load of contiguous words, and its distance from the load before.
struct load_stride {
  std::uint64_t at = 0;
  std::uint64_t step = 0;
};

// The windows of shared and local memory in the generic address space. No allocation of global
// memory overlaps them.
inline constexpr std::uint64_t shared_window = 0x0000'0100'0000'0000;
inline constexpr std::uint64_t local_window = 0x0000'0101'0000'0000;
inline constexpr std::uint64_t parameter_window = 0x0000'0102'0000'0000;
inline constexpr std::uint64_t window_bytes = 0x0000'0001'0000'0000;
// The shared memory of block r of the own cluster begins at address (r + 1) * peer_bytes of shared
// memory; a block's own memory begins at 0, too. An H200 reserves the same 16 MiB for each block.
inline constexpr std::uint64_t peer_bytes = std::uint64_t{1} << 24;

class scheduler;
class global_memory;
class observer;

struct context {
  std::byte* registers = nullptr;  // the running warp's
  std::uint32_t active = 0;        // lanes that take part in the next operation
  std::uint32_t mask = 0;          // lanes of the running split
  const op* segment = nullptr;     // start of the straight run that is being counted
  std::int64_t budget = 0;         // instructions until the split yields; polling costs more

  const op* code = nullptr;
  std::int64_t host_of_device = 0;  // host address = device address + this
  access_window* windows = nullptr;
  load_stride* strides = nullptr;  // by the same index
  global_memory* memory = nullptr;
  std::byte* shared = nullptr;
  std::uint64_t shared_bytes = 0;
  std::byte* local = nullptr;  // local_bytes for each of the warp's lanes, one after the other
  std::uint64_t local_bytes = 0;
  std::byte* parameters = nullptr;
  std::uint64_t parameter_bytes = 0;

  access_counts counts;
  std::uint64_t polls = 0;  // volatile loads, results of atomics, and fences, as in waiting loops
  scheduler* owner = nullptr;
  observer* watch = nullptr;  // null: not watched

  template <class T>
  T* vreg(std::uint32_t offset) const {
    return reinterpret_cast<T*>(registers + offset);
  }
  std::uint32_t& predicate(std::uint32_t offset) const {
    return *reinterpret_cast<std::uint32_t*>(registers + offset);
  }
};

}  // namespace stepwise::emulator
