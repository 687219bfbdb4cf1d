// One instruction of x86-64 machine code, as far as it concerns EAX, the register in which a
// function returns a number.
//
// idea    The decoder knows only the instructions that compilers emit in host code without vector
//         extensions. Any other instruction has no length, and the caller must not guess what
//         follows that instruction.
// source  Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, appendix A
// tests   ../tests/result_use_test.cpp
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace stepwise::runtime {

// A set of bytes of EAX, one bit per byte.
using eax_bytes = std::uint8_t;
inline constexpr eax_bytes all_of_eax = 0xF;

struct eax_instruction {
  enum class flow : std::uint8_t {
    next,
    jump,           // to `target`
    branch,         // to `target`, or to the next instruction
    call,           // of the function at `target`
    indirect_call,  // of any function
    leave,          // a jump through one of the linker's pointers, to another library
    ret,
    stop  // a trap: nothing follows
  };
  std::size_t length = 0;  // 0: unknown
  flow then = flow::next;
  std::int64_t target = 0;  // relative to the end of the instruction
  eax_bytes reads = 0, writes = 0;
  bool is_push = false;
};

// Decodes the first instruction of `code`.
eax_instruction decode_eax_instruction(std::span<const std::uint8_t> code);

}  // namespace stepwise::runtime
