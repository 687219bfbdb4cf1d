// The traits of an instruction, from one table of opcodes: the unit that executes it, the memory
// that it touches, and whether lanes wait at it. Used by lowering, counting and `lab ptx`.
//
// watch   This is a model of the PTX, not of ptxas's output. One PTX instruction may become no
//         machine instruction, or several for different pipes (a division).
// tested  tests/traits_test.cpp
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_set>

#include "common/ptx/ast.hpp"

namespace stepwise::ptx {

// The parts of a multiprocessor that execute instructions.
enum class pipe : std::uint8_t {
  fp32,
  fp64,
  half,     // f16, bf16 and smaller
  integer,  // including logic, shifts, comparisons and moves
  conversion,
  special,  // special functions: rcp, rsqrt, ex2, sin ...
  tensor,
  load_store,  // accesses to all memories, atomics, shuffles
  control,     // branches, calls, exits
  barrier,     // barriers of blocks and warps, fences, votes
  other        // accesses to parameters, which are not in memory; nanosleep and the like
};
inline constexpr int pipes = static_cast<int>(pipe::other) + 1;

enum class instruction_kind : std::uint8_t {
  arithmetic,
  move,
  conversion,
  special,  // quotients, roots and transcendental functions of floating-point numbers
  tensor,
  load,
  store,
  atomic,      // with or without a result
  async_copy,  // cp.*: copies, and waits for them
  warp,        // exchanges and votes between a warp's lanes
  barrier,     // barriers and fences
  control,
  other
};

struct traits {
  instruction_kind kind = instruction_kind::arithmetic;
  ptx::pipe pipe = ptx::pipe::other;
  bool touches_memory = false;  // including parameters, which are operands or registers
  bool waits = false;           // for the other participating lanes, to execute it together
  bool is_pure = false;         // its only effect is its result, operand 0
};

// The traits of an opcode with its modifiers.
traits traits_of(const instruction& i);

// Whether the instruction has this modifier, without its dot ("sat").
bool has_modifier(const instruction& i, std::string_view modifier);
// The type of the instruction's operands: the last type that it names (setp.lt.f32, mad.wide.s32).
scalar_type value_type(const instruction& i);
// The state space in its modifiers; none for a generic address or an access to no memory.
state_space space_of(const instruction& i);
bool is_branch(const instruction& i);  // bra and brx
// Whether the instruction writes its first operand.
bool has_result(const instruction& i);

// The names that the instructions of a body read: registers, variables and labels. An instruction
// with a result writes its first operand; all other operands are read.
std::unordered_set<std::string_view> names_read(const body& b);

}  // namespace stepwise::ptx
