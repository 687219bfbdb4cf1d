// From PTX instructions back to the student's lines, and on to what the machine code made of them.
//
// idea    Two tables have it: the .loc records of the PTX, and the cubin's line table, which counts
//         the machine instructions of every PTX line. The first gives a line of the student's file
//         and, as detail, the inlined frames inside it. The second shows which loads and stores the
//         hardware executes at all: where ptxas folded neighbours into one wider access, only one
//         of their lines has an instruction.
// watch   Machine code itself is never read, so some questions stay open: what is inferred without
//         proof says so in `ambiguous`. Counts are per PTX line; two instructions on one line (only
//         in hand-written asm) share theirs.
// source  PTX ISA 9.0, ".loc"; image/FORMATS.md. Tested by tests/.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/image/image.hpp"
#include "common/ptx/ast.hpp"

namespace stepwise::emulator {

inline constexpr std::uint32_t no_index = 0xffffffffu;

// A line of source code.
struct source_line {
  std::string file;        // as the compiler found it, without "." and ".."; empty: unknown
  std::uint32_t line = 0;  // from 1; 0: unknown
  bool of_user = true;     // false: in the CUDA toolkit's, a library's or the system's headers
  bool operator==(const source_line&) const = default;
};

// A function that was inlined into a line, and where in it the instruction stands.
struct source_frame {
  std::string function;  // demangled, without parameters; empty if unknown
  source_line at;
  bool operator==(const source_frame&) const = default;
};

// What the hardware executes of a load, store or atomic of the PTX.
enum class access_role : std::uint8_t {
  none,     // no access to memory, or to parameters only
  alone,    // as it is written
  leader,   // the whole of a group, at once: source_map::groups
  member,   // nothing: its group's leader brings its bytes
  dropped,  // nothing: source_map::dropped says why
};

struct instruction_source {
  std::uint32_t line = no_index;   // into source_map::lines
  std::uint32_t inner = no_index;  // into source_map::chains; no_index: stands in the line itself
  bool estimated = false;          // made by the compiler; the line is that of a neighbour
  access_role role = access_role::none;
  std::uint32_t group = no_index;  // leader and member: into groups; dropped: into dropped
  // Of its PTX line; 0 too where nothing is known (source_map::knows_machine_code).
  std::uint32_t machine_instructions = 0;
};

// PTX accesses that became one machine access of 4, 8 or 16 bytes, aligned to its size. Lanes that
// execute the leader access `bytes` bytes from the leader's own address + `offset` on.
struct access_group {
  std::uint32_t leader = 0;            // index into the body's instructions
  std::vector<std::uint32_t> members;  // by address, the leader among them
  std::int32_t offset = 0;             // from the leader's first byte, 0 or negative
  std::uint32_t bytes = 0;
  bool ambiguous = false;  // other groups would explain the table as well
  // Two words in different halves of 16 bytes: ptxas looks at them together and leaves them two
  // loads, which both count for the leader's line. They are taken as written (access_role::alone).
  bool split = false;
};

enum class drop_reason : std::uint8_t {
  same_address,   // of a load: its bytes were loaded or stored before; of a store: stored again
  unused,         // what it loads is never used
  in_registers,   // local memory of a kernel that has no stack frame
  constant_bank,  // ld.const that became an operand of another instruction
  unknown,
};
std::string_view name_of(drop_reason reason);  // "same address"

struct dropped_access {
  std::uint32_t instruction = 0;  // index into the body's instructions
  drop_reason reason = drop_reason::unknown;
  bool ambiguous = false;  // reason unknown: it may have been merged with a load elsewhere
};

// An access in a loop that ptxas itself unrolled, which has fewer copies than the rest of that
// block: iterations may share one, wider or kept in a register. The counters of such a line may be
// too high by up to block_copies / copies.
struct thinned_access {
  std::uint32_t instruction = 0;
  std::uint32_t copies = 0, block_copies = 0;
};

// One function. Building it costs about as much as parsing the body did; in hostile PTX a bounded
// multiple of that.
class source_map {
 public:
  // `machine_code`: of the kernel that is run; null if there is none. Then, and if it has no line
  // table, every access is taken as written. `f` must have a body.
  source_map(const ptx::module& m, const ptx::function& f,
             const image::kernel_resources* machine_code);

  std::vector<instruction_source> instructions;  // of every instruction of the body
  std::vector<source_line> lines;                // in order of first appearance
  // From the outer frame to the innermost; of more than 64 frames the outer one and the inner 63.
  // Lines and chains have room for 64 MiB: what finds none there has no line (no chain).
  std::vector<std::vector<source_frame>> chains;
  std::vector<access_group> groups;     // in order of their leaders
  std::vector<dropped_access> dropped;  // in order
  std::vector<thinned_access> thinned;  // in order; these execute as written
  bool knows_machine_code = false;      // there is a line table
};

// The rule for source_line::of_user: everything is the user's but files below a CUDA toolkit or a
// package that brings one, the compilers' and the system's folders for headers, and the headers of
// cub, thrust, libcu++ and cooperative groups wherever they lie.
bool is_users_file(std::string_view path);

}  // namespace stepwise::emulator
