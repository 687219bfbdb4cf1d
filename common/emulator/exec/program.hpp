// A kernel, lowered: the ops, and what must be put into its rows before a warp starts.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/device/error.hpp"
#include "common/emulator/exec/context.hpp"
#include "common/emulator/ptx/ast.hpp"

namespace stepwise::emulator {

// Special registers whose value is fixed while a warp runs.
enum class special : std::uint8_t {
  tid_x,
  tid_y,
  tid_z,
  ntid_x,
  ntid_y,
  ntid_z,
  ctaid_x,
  ctaid_y,
  ctaid_z,
  nctaid_x,
  nctaid_y,
  nctaid_z,
  laneid,
  warpid,
  nwarpid,
  smid,
  nsmid,
  gridid,
  lanemask_eq,
  lanemask_lt,
  lanemask_le,
  lanemask_gt,
  lanemask_ge,
  dynamic_smem_size,
  total_smem_size,
  zero,
  one,
  envreg
};

struct constant_row {
  std::uint32_t offset;
  unsigned bytes;  // of one lane: 2, 4 or 8; 0 for a predicate
  std::uint64_t value;
};
struct parameter_row {
  std::uint32_t offset;
  unsigned row_bytes;  // of one lane
  unsigned bytes;      // read from the parameter buffer
  bool is_signed;
  std::uint32_t parameter_offset;
};
struct special_row {
  std::uint32_t offset;
  unsigned bytes;  // of one lane: 2, 4 or 8
  special which;
};

enum class sync_kind : std::uint8_t {
  warp_barrier,
  shfl_up,
  shfl_down,
  shfl_bfly,
  shfl_idx,
  vote_all,
  vote_any,
  vote_uni,
  vote_ballot,
  match_any32,
  match_any64,
  match_all32,
  match_all64,
  redux_add,
  redux_min_s32,
  redux_max_s32,
  redux_min_u32,
  redux_max_u32,
  redux_and,
  redux_or,
  redux_xor,
  elect,
  whole_warp  // all 32 lanes come to one instruction; the op after it then runs once, for all
};

inline constexpr std::uint32_t no_row = 0xffffffffu;

// What a synchronising warp operation needs beyond op::d, a, b, c. op::slot is its index.
struct sync_site {
  sync_kind kind;
  std::uint32_t members;             // row of the membermask
  std::uint32_t predicate = no_row;  // row of the second result
  bool source_negated = false;       // vote of !p
};

enum class barrier_reduction : std::uint8_t { none, popc, logical_and, logical_or };
struct barrier_site {
  std::uint32_t id, count;  // rows; count may be no_row
  bool arrive_only = false;
  barrier_reduction reduction = barrier_reduction::none;
  std::uint32_t source = no_row;  // predicate
  bool source_negated = false;
};

struct program {
  std::string name;    // as in the PTX
  std::string pretty;  // demangled, without parameters
  const ptx::module* module = nullptr;
  const ptx::function* function = nullptr;
  const ptx::body* body = nullptr;
  std::vector<op> code;
  std::vector<std::int32_t> instruction;  // of each op: index into the body's instructions, or -1
  std::uint32_t register_bytes = 0;       // rows of one warp
  std::uint32_t window_count = 0;
  std::uint64_t static_shared_bytes = 0;  // dynamic shared memory starts at this offset
  std::uint64_t local_bytes = 0;          // per thread
  std::uint64_t parameter_bytes = 0;
  std::vector<constant_row> constants;
  std::vector<parameter_row> parameters;
  std::vector<special_row> specials;
  std::vector<sync_site> syncs;
  std::vector<barrier_site> barriers;

  // "reduction.cu:23", the outermost frame of the line that `i` comes from; "" if unknown.
  std::string source_line(const op* i) const;
};

// Addresses of the module's variables, for operands that name them.
struct symbol_place {
  ptx::state_space space;
  std::uint64_t address;  // global, constant: device address
};
using symbol_table = std::unordered_map<std::string_view, symbol_place>;

// Lowers a kernel. not_supported, naming the instruction, the kernel and the source line, for what
// the emulator does not implement; invalid_ptx for what does not parse.
result<std::unique_ptr<program>> lower(const ptx::module& m, const ptx::function& f,
                                       const symbol_table& symbols);

}  // namespace stepwise::emulator
