// The origin of an API call in the program: a few return addresses, identified by one number.
//
// idea    A finding refers to its origin by that number. We keep the frames between the program's
//         code and this library (templates in the toolkit's headers, a wrapper that checks errors),
//         so the line to show is chosen only when the finding is shown.
// watch   Taking a stack costs a few microseconds. This is done for each call of a checked program,
//         and for the first allocations of other programs. Nothing is destroyed, because static
//         destructors may call us.
// tests   ../tests/checks_test.cpp, ../tests/checks_test.py
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "common/report/located_finding.hpp"

namespace stepwise::runtime {

inline constexpr std::size_t stack_frames = 8;
using call_stack = std::array<std::uintptr_t, stack_frames>;  // innermost first; 0: no more

// Treats the library that contains this address (the driver API's) as our own code, too.
void count_as_own_code(std::uintptr_t address);

// The program's call into this library: the stack frames of its callers, and an address inside our
// function that was called (0 if this library is part of the program, as in tests).
struct program_call {
  call_stack stack{};
  std::uintptr_t inside = 0;
};
program_call call_of_program();
inline call_stack program_stack() { return call_of_program().stack; }
// The name of the function that contains `inside`. For cudaMemcpy_ptds, too, the name is
// "cudaMemcpy".
std::string called_function(std::uintptr_t inside);

// Whether one of these frames belongs to a header library (CUB, Thrust) or to the Python
// interpreter. Such code decides for itself which errors it ignores.
bool passes_library_code(std::span<const std::uintptr_t> frames);

// Stores the stack of program code that a signal interrupted at this instruction, without frames of
// this library, and returns the number of frames. Safe in signal handlers: no locks or allocations.
std::size_t interrupted_stack(std::uintptr_t instruction, std::span<std::uintptr_t> stack);

// The stack's number, which is the same for equal stacks. 0 for an empty stack, or if there are too
// many stacks.
std::uint64_t number_of_stack(const call_stack& stack);

// The innermost line of these calls in the program's own code, not in system or toolkit headers. If
// there is none, the innermost known function of the program. Runs `addr2line` if it is installed.
host_place place_of_stack(std::span<const std::uintptr_t> stack);
// The same line, for the stack with this number. Results are cached.
host_place place_of_origin(std::uint64_t number);

}  // namespace stepwise::runtime
