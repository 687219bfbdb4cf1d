// Where in the program a call of the API came from: a few return addresses, known by one number.
//
// idea    A finding names its origin by that number. The frames between the program's code and us
//         (templates of the toolkit's headers, a wrapper that checks errors) are kept, so that
//         the line to show can be chosen when it is shown.
// watch   Takes some microseconds: done for each call of a checked program, and for the first
//         allocations of others. Nothing is destroyed: programs call us when they end.
// tests   ../tests/checks_test.cpp, ../tests/checks_test.py
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "common/report/located_finding.hpp"

namespace stepwise::runtime {

inline constexpr std::size_t stack_frames = 8;
using call_stack = std::array<std::uintptr_t, stack_frames>;  // innermost first; 0: no more

// The code of the library that holds this address is our own too: the driver API's.
void count_as_own_code(std::uintptr_t address);

// The program's call into this library: the stack frames above ours, and an address inside our
// function that was called (0 where this library is part of the program, as in tests).
struct program_call {
  call_stack stack{};
  std::uintptr_t inside = 0;
};
program_call call_of_program();
inline call_stack program_stack() { return call_of_program().stack; }
// The name of the function that contains `inside`. For cudaMemcpy_ptds it is also "cudaMemcpy".
std::string called_function(std::uintptr_t inside);

// Whether one of these frames belongs to a header library (CUB, Thrust) or to the Python
// interpreter. Such code decides for itself which errors it ignores.
bool passes_library_code(std::span<const std::uintptr_t> frames);

// The stack of code of the program's that a signal interrupted at this instruction, without frames
// of this library's; how many there are. For the signal's handler: it neither locks nor allocates.
std::size_t interrupted_stack(std::uintptr_t instruction, std::span<std::uintptr_t> stack);

// The stack's number, the same for equal stacks; 0 for an empty one, or when there are too many.
std::uint64_t number_of_stack(const call_stack& stack);

// The innermost line of these calls that is the program's own, not one of a system's or the
// toolkit's headers; else the innermost function of the program's that is known. Runs `addr2line`,
// where there is one.
host_place place_of_stack(std::span<const std::uintptr_t> stack);
// The same by the stack's number; the answers are kept.
host_place place_of_origin(std::uint64_t number);

}  // namespace stepwise::runtime
