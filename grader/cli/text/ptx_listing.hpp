// The data that `lab ptx` shows for a kernel: source lines with their PTX, and the loops with the
// ops that one pass executes.
//
// idea    A student asks "why two instructions per FMA?". The answer is in the innermost loop: its
//         instructions by kind, the number of them that the machine code really has, and the bytes
//         loaded per FMA.
// Tested by cli/tests/ptx_test.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "common/source_map/source_map.hpp"
#include "common/source_map/source_text.hpp"

namespace stepwise::cli {

inline constexpr std::uint32_t no_loop = 0xffffffffu;

struct ptx_row {
  std::string text;  // the instruction, with short names for parameters and variables
  std::string opcode;
  std::string kind;  // "FMA", "load shared"
  std::uint32_t machine_instructions = 0;
  emulator::access_role role = emulator::access_role::none;
  std::string note;                       // how the machine code implements it; mostly ""
  std::uint32_t loop = no_loop;           // innermost loop around it, an index into loops
  std::string inlined;                    // "add_from, line 29": the position in inlined functions
  std::vector<std::string> machine_code;  // of its PTX line, if a disassembler printed it
};

struct ptx_source_line {
  std::string file;
  std::uint32_t line = 0;
  std::string source;  // with its indentation; empty if it cannot be read
  std::vector<ptx_row> rows;
};

struct kind_count {
  std::string kind;
  std::uint32_t ptx = 0;
  double machine = 0;       // per pass
  std::uint32_t bytes = 0;  // loaded or stored by one thread
};

struct ptx_loop {
  std::string file;
  std::uint32_t first_line = 0, last_line = 0;  // source lines of its instructions
  std::uint32_t depth = 1;                      // 2: inside one other loop
  bool is_innermost = true;
  bool is_main = false;       // to be marked: innermost, or with the most FMAs
  bool is_remainder = false;  // the rest of an unrolled loop of the same lines
  bool has_branches = false;  // it has several branches, and all of them are counted
  // Unroll factor guessed from the number of accesses and FMAs per source line, 1 without evidence,
  // and a line of a loop inside it that was unrolled completely.
  std::uint32_t unrolled = 1, unrolled_line = 0;
  // One pass through the PTX's loop, without the loops inside it.
  std::uint32_t ptx = 0;
  double machine = 0;
  std::uint32_t copies = 1;       // made by ptxas, judged by most of its lines
  std::vector<kind_count> kinds;  // in a fixed order
  std::uint32_t fma = 0, loaded_global_bytes = 0, loaded_shared_bytes = 0;
};

struct kernel_listing {
  std::string name, ptx_name;
  bool of_user = true;  // its own lines are in the user's files
  bool knows_machine_code = false;
  int registers = 0;
  std::uint64_t shared_bytes = 0, stack_bytes = 0;
  std::uint32_t ptx_instructions = 0, machine_instructions = 0;
  std::vector<ptx_source_line> lines;  // by file in order of appearance, then by line
  std::vector<ptx_loop> loops;         // outer before inner
  std::uint32_t groups = 0, dropped = 0, undecided = 0;
};

// Machine code as a disassembler printed it, by offset.
using machine_text = std::map<std::uint32_t, std::string>;

// Lists a kernel of the module. `ptx_lines` is its text. `machine_code` may be null.
kernel_listing list_kernel(const ptx::module& m, const std::vector<std::string>& ptx_lines,
                           const ptx::function& kernel, const image::kernel_resources* machine_code,
                           const machine_text& shown, emulator::source_text& sources);

// "FMA", "FP32", "integer", "load shared", ...: kinds as a student thinks of them.
std::string kind_of(const ptx::instruction& i);

}  // namespace stepwise::cli
