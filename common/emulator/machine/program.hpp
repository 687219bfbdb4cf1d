// A lowered kernel: its ops, and the values that its registers must hold before a warp starts.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "common/device/error.hpp"
#include "common/emulator/machine/context.hpp"
#include "common/emulator/machine/link.hpp"
#include "common/emulator/machine/matrix.hpp"
#include "common/emulator/machine/observer.hpp"
#include "common/emulator/machine/tensor_copy.hpp"
#include "common/ptx/ast.hpp"

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
  grid_workspace_low,  // %envreg2 and %envreg1: the address of the words that grid.sync() uses
  grid_workspace_high,
  clusterid_x,
  clusterid_y,
  clusterid_z,
  nclusterid_x,
  nclusterid_y,
  nclusterid_z,
  cluster_ctaid_x,
  cluster_ctaid_y,
  cluster_ctaid_z,
  cluster_nctaid_x,
  cluster_nctaid_y,
  cluster_nctaid_z,
  cluster_ctarank,
  cluster_nctarank,
  is_explicit_cluster,
  frame_base  // the start of the function's own local memory
};

struct constant_vreg {
  std::uint32_t offset;
  unsigned bytes;  // per lane: 2, 4 or 8; 0 for a predicate
  std::uint64_t value;
};
struct parameter_vreg {
  std::uint32_t offset;
  unsigned vreg_bytes;  // per lane
  unsigned bytes;       // read from the parameter buffer
  bool is_signed;
  std::uint32_t parameter_offset;
};
struct special_vreg {
  std::uint32_t offset;
  unsigned bytes;  // per lane: 2, 4 or 8
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
  whole_warp  // all 32 lanes reach one instruction; the next op then runs once, for all of them
};

inline constexpr std::uint32_t no_operand = 0xffffffffu;

// The operands of a synchronising warp operation beyond op::d, a, b, c. op::slot is its index.
struct sync_site {
  sync_kind kind;
  std::uint32_t members;                 // vector register of the membermask
  std::uint32_t predicate = no_operand;  // vreg of the second result
  bool source_negated = false;           // vote of !p
};

enum class barrier_reduction : std::uint8_t { none, popc, logical_and, logical_or };
struct barrier_site {
  std::uint32_t id, count;  // vector registers; count may be no_operand
  bool arrive_only = false;
  bool aligned = true;  // every lane of a warp reaches the same instruction
  barrier_reduction reduction = barrier_reduction::none;
  std::uint32_t source = no_operand;  // predicate
  bool source_negated = false;
};

// A call. Arguments and results are bytes of local memory. Arguments are copied from the caller's
// frame to the callee's, and results are copied back.
struct call_site {
  static constexpr std::uint32_t indirect = 0xffffffffu;
  std::uint32_t function = indirect;  // index into program::functions
  std::uint32_t target = no_operand;  // indirect: vreg of addresses
  struct piece {
    std::uint32_t caller, callee, bytes;  // offsets in the two frames
  };
  std::vector<piece> arguments, results;
  std::string signature;
};

// The functions of the device's runtime library: those that PTX calls and no module defines.
enum class device_function : std::uint8_t { vprintf, malloc, free, assertfail, runtime };

// The functions of the CUDA runtime that kernels may call. Functions that differ only in their
// default stream share a value.
enum class runtime_function : std::uint8_t {
  get_attribute,
  get_limit,
  get_cache_config,
  get_shared_config,
  get_last_error,
  peek_at_last_error,
  get_error_string,
  get_error_name,
  get_device_count,
  get_device,
  create_stream,
  destroy_stream,
  wait_event,
  create_event,
  record_event,
  destroy_event,
  get_function_attributes,
  free,
  malloc,
  copy,
  copy_2d,
  copy_3d,
  fill,
  fill_2d,
  fill_3d,
  get_version,
  get_buffer,
  get_buffer_for,
  launch,
  launch_buffer,
  get_occupancy,
};

struct library_call {
  device_function which;
  runtime_function of_runtime = runtime_function::get_attribute;  // if `which` is runtime
  std::vector<std::uint32_t> arguments;                           // offsets in the caller's frame
  std::uint32_t result = 0;
};

// A function of a program: the kernel itself, or a function that it may call. Its registers and its
// local memory form a frame, which is created when the function is called.
struct program_function {
  std::string pretty;  // demangled, without parameters
  const ptx::module* module = nullptr;
  const ptx::function* function = nullptr;
  const ptx::body* body = nullptr;
  std::uint32_t first_op = 0;        // its ops end at the next function's first op
  std::uint32_t register_bytes = 0;  // per warp
  std::vector<constant_vreg> constants;
  std::vector<special_vreg> specials;
  std::uint64_t local_bytes = 0;  // per thread: variables, arguments, results
  std::uint64_t local_end = 0;    // their end, before rounding
  std::uint64_t stack_bytes = 0;  // in the thread's stack, as a GPU counts it
  std::string signature;          // sizes and alignments of results and parameters
  // In a watched program: the PTX registers that have vregs.
  struct named_vreg {
    std::uint32_t offset;
    unsigned bytes;  // per lane; 0: a predicate
  };
  std::unordered_map<std::string, named_vreg> registers;
  status failure;  // why lowering failed, if the function is called only by address
};

// A value that a thread may read before it is set: a register without a write on some path, or a
// load from local memory. Known for watched programs.
struct unset_origin {
  std::uint32_t function;  // index into program::functions
  std::int32_t load = -1;  // the load's instruction; -1: it is a register
};
// The places where such a value has an effect, directly or through values computed from it.
struct unset_use {
  enum class effect : std::uint8_t { store, address, branch, argument };
  std::uint32_t function;
  std::int32_t instruction;
  effect what;
  std::vector<std::uint32_t> origins;  // indices into program::unset_origins
};

// The first KB of a block's shared memory belongs to the system since sm_80. The emulator reserves
// it only for kernels that ask for its place: cooperative groups store data there.
inline constexpr std::uint64_t reserved_shared_bytes = 1024;

struct program {
  std::string name;    // as in the PTX
  std::string pretty;  // demangled, without parameters
  std::vector<op> code;
  std::vector<std::int32_t> instruction;   // by op: index into the body's instructions, or -1
  std::deque<program_function> functions;  // the kernel first
  std::uint32_t window_count = 0;
  std::uint64_t static_shared_bytes = 0;  // dynamic shared memory starts at this offset
  std::uint64_t system_shared_bytes = 0;  // the system's part of these
  std::uint64_t shared_gap_bytes = 0;     // gaps between variables, included in these
  std::uint64_t parameter_bytes = 0;
  std::vector<parameter_vreg> parameters;
  std::vector<sync_site> syncs;
  std::vector<barrier_site> barriers;
  bool reads_clock = false;             // %clock or %clock64; the program is then watched, too
  bool reads_timer = false;             // %globaltimer
  bool has_warpgroup_products = false;  // wgmma
  bool moves_registers = false;         // setmaxnreg
  std::uint32_t largest_increase = 0;   // the largest operand of a setmaxnreg.inc
  bool writes_in_bulk = false;        // bulk copies to global memory, or edits of tensor maps there
  std::string tensor_instruction;     // the first one that uses tensor cores; empty: none does
  bool watched = false;               // has an op before each access that notifies observers of it
  std::vector<access_site> accesses;  // in a watched program
  // Shared variables in the order of their places. A watched program has gaps between them.
  struct shared_variable {
    std::string name;
    std::uint64_t offset, bytes;
  };
  std::vector<shared_variable> shared_variables;  // the static ones
  std::string dynamic_shared;  // the name of extern __shared__ memory; empty: the kernel uses none
  std::vector<call_site> calls;
  std::vector<library_call> library_calls;
  std::vector<std::vector<std::uint32_t>> jump_tables;          // ops that a brx.idx leads to
  std::unordered_map<std::uint64_t, std::uint32_t> by_address;  // functions that have addresses
  std::deque<matrix_form> matrices;                             // ops point to them
  std::deque<tensor_copy_form> tensor_copies;                   // ops point to them

  bool follows_unset = false;  // has ops that follow unset values, for the checks
  // If it follows them: the origins of unset values, and the places where they have an effect.
  std::vector<unset_origin> unset_origins;
  std::vector<unset_use> unset_uses;
  // The kernel's own variables in a thread's local memory, where loads are checked. Empty if no
  // load is checked.
  access_window checked_local;

  // Local memory of a thread, for the longest chain of calls. With recursion, calls through
  // pointers or alloca, there is no longest chain. Then `limited_stack` is set, and a launch allows
  // as many frames as the stack limit does.
  std::uint64_t local_bytes = 0;
  bool limited_stack = false;
  // Bytes of local memory that are needed for a stack of `limit` bytes.
  std::uint64_t local_bytes_for(std::uint64_t limit) const;

  bool uses(device_function f) const;
  const program_function& function_of(const op* i) const;
  // "reduction.cu:23", the outermost frame of the line that `i` comes from; "" if unknown.
  std::string source_line(const op* i) const;
};

// Like program::source_line(), for an instruction of a function's body.
std::string source_line_of(const program_function& f, std::int32_t instruction);

}  // namespace stepwise::emulator
