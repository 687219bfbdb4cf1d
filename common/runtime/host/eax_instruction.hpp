// One instruction of x86-64 machine code, as far as it concerns the register in which a function
// returns a number: EAX.
//
// idea    Only what compilers put into host code without vector extensions is known. Anything else
//         has no length, and who asks must not guess what follows.
// source  Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, appendix A
// tests   ../tests/result_use_test.cpp
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace stepwise::runtime {

// Bytes of EAX, one bit for each.
using eax_bytes = std::uint8_t;
inline constexpr eax_bytes all_of_eax = 0xF;

struct eax_instruction {
  enum class flow : std::uint8_t {
    next,
    jump,           // to `target`
    branch,         // to `target`, or to the next instruction
    call,           // of the function at `target`
    indirect_call,  // of any function
    leave,          // a jump through a pointer of the linker's, to another library
    ret,
    stop  // a trap: nothing follows
  };
  std::size_t length = 0;  // 0: unknown
  flow then = flow::next;
  std::int64_t target = 0;  // counted from the end of the instruction
  eax_bytes reads = 0, writes = 0;
  bool is_push = false;
};

// The first instruction of `code`.
eax_instruction decode_eax_instruction(std::span<const std::uint8_t> code);

}  // namespace stepwise::runtime
