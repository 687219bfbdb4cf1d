// The state of one kernel's lowering, shared by the files lower*.cpp.
//
// idea    Every instruction becomes the name of an op ("add.s32", "ld.global.u32.b32.a64"), and its
//         operands become offsets of vregs. An instruction without an op fails the launch by name.
//         Nothing is guessed.
#pragma once

#include <list>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "common/emulator/lower/fusion.hpp"
#include "common/emulator/lower/meeting.hpp"
#include "common/emulator/machine/matrix.hpp"
#include "common/emulator/machine/program.hpp"
#include "common/emulator/ops/op_entry.hpp"
#include "common/ptx/spelling.hpp"

namespace stepwise::emulator {

using ptx::operand;
using ptx::operand_kind;
using ptx::scalar_type;
using ptx::state_space;

// A feature that the emulator does not implement, in words that follow "does not implement".
struct unsupported {
  std::string what;
};

// Whether any op executes instructions of this opcode ("add").
bool has_ops(std::string_view opcode);

// Width of a value's register; 0 for a predicate.
unsigned bits_of(value_class k);
value_class class_of_bits(unsigned bits);
// The instruction with its modifiers in the order of the PTX manual, where types come last. ptxas
// accepts any order, and NVIDIA's own headers rely on that.
ptx::instruction in_manual_order(const ptx::instruction& i);
// The 16 of "s16" or "b16".
unsigned type_bits(std::string_view type);
bool is_half(std::string_view type);  // f16, bf16 and their pairs

// The limit for a warp's vregs, in bytes: about a hundred times the size that compilers need.
inline constexpr std::uint32_t most_vreg_bytes = std::uint32_t{64} << 20;

struct runtime_form;

struct register_info {
  value_class kind = value_class::none;
  std::uint32_t offset = no_operand;
};

// State that the functions of a program share while they are lowered: the list of functions, and
// the places of their shared variables. In call_plan.cpp.
class call_plan {
 public:
  // `watched`: leaves gaps between shared variables, so that an access past a variable is detected.
  call_plan(const link_unit& unit, const linked_function& kernel, bool watched);

  struct planned {
    const linked_function* function;
    bool by_address_only;  // no chain of direct calls leads to it
    std::vector<std::size_t> callees;
  };
  const std::vector<planned>& functions() const { return functions_; }
  // Index of a function among functions().
  std::size_t index_of(const linked_function* f) const { return index_.at(f); }
  // Offset of a shared variable in the block's shared memory.
  std::uint64_t shared_offset(const ptx::variable* v) const { return shared_.at(v); }
  bool has_shared(const ptx::variable* v) const { return shared_.contains(v); }
  std::uint64_t static_shared_bytes() const { return static_shared_bytes_; }
  std::uint64_t system_shared_bytes() const { return system_shared_bytes_; }
  std::uint64_t shared_gap_bytes() const { return shared_gap_bytes_; }
  // The static shared variables, by offset.
  const std::vector<program::shared_variable>& shared_variables() const { return placed_; }
  const std::string& dynamic_shared() const { return dynamic_; }
  const link_unit& unit() const { return unit_; }
  bool has_indirect_calls() const { return !prototypes_.empty(); }

 private:
  void reach(const linked_function* f, bool by_address_only);
  void follow_calls();
  void place_shared();
  std::vector<const ptx::variable*> shared_named_in(const linked_function& f) const;

  const link_unit& unit_;
  std::vector<planned> functions_;
  std::unordered_map<const linked_function*, std::size_t> index_;
  std::unordered_set<std::string> prototypes_;  // signatures of the indirect calls
  std::vector<std::string> fresh_prototypes_;   // signatures whose functions were not reached yet
  std::unordered_map<const ptx::variable*, std::uint64_t> shared_;
  std::uint64_t static_shared_bytes_ = 0, system_shared_bytes_ = 0, shared_gap_bytes_ = 0;
  bool watched_;
  std::vector<program::shared_variable> placed_;
  std::string dynamic_;
};

// Appends the offsets of a function's results and parameters in its frame, in this order, to
// `offsets`. Returns the bytes that they take.
std::uint64_t frame_offsets(const std::vector<ptx::variable>& returns,
                            const std::vector<ptx::variable>& parameters,
                            std::vector<std::uint32_t>& offsets);
// "8:24,;4:4,;": alignment and size of the results, then of the parameters, for caller and callee.
std::string signature_of(const std::vector<ptx::variable>& returns,
                         const std::vector<ptx::variable>& parameters);

class lowering {
 public:
  lowering(const call_plan& plan, const linked_function& f, program& out, program_function& frame)
      : plan_(plan),
        part_(f.part),
        module_(*f.module),
        function_(*f.function),
        out_(out),
        frame_(frame),
        body_(f.module->body_of(*f.function)) {
    frame_.module = &module_;
    frame_.function = &function_;
    frame_.body = &body_;
    ordinal_ = out.code.empty() ? 0 : out.code.back().ordinal + 1;
  }

  void run();
  std::string where() const;

 private:
  // Storage.
  std::uint32_t take(unsigned vreg_bytes);
  std::uint32_t new_vreg(value_class k);
  std::uint32_t constant(value_class k, std::uint64_t value);
  std::uint32_t vreg_of_special(special which, unsigned bits);
  // Makes the register `to` an alias of a vreg that does not change while a block runs. This
  // replaces the move that is being lowered, which then gets an op only if it must be counted.
  // Returns false if an alias is not possible.
  bool names_fixed_vreg(const operand& to, std::uint32_t vreg);
  struct mentions {
    std::uint32_t first = 0;  // index of the first instruction that names it
    unsigned writes = 0;      // instructions that write it, alone or in a vector
  };
  const mentions& mentions_of(std::string_view name);
  void declare_registers();
  struct counted_register {
    value_class kind;
    std::uint32_t count;
  };
  const counted_register* find_counted(std::string_view name) const;
  void place_variables();
  void place_call_variables();
  bool is_kernel() const { return function_.is_entry; }
  const register_info* find_register(std::string_view name);
  std::uint64_t symbol_address(std::string_view name, bool generic) const;
  std::uint32_t symbol_vreg(std::string_view name, value_class k, bool generic,
                            std::int64_t offset);
  bool is_in_frame(std::string_view name) const;

  // Operands.
  std::uint32_t source(const operand& o, value_class k);
  std::uint32_t destination(const operand& o, value_class k);
  unsigned register_bits(const operand& o);
  struct address {
    std::uint32_t vreg;
    std::int64_t offset;
    unsigned bits;
  };
  address memory_address(const operand& o, state_space space);
  // Describes the memory access of the next op, if the program is watched.
  void watch(access_site site, const address& at, std::uint32_t address_lanes = all_lanes);
  access_site site_of(access_kind kind, state_space space, unsigned bytes) const;
  void watch_copy(std::uint32_t to, std::uint32_t from, std::uint32_t ignore, std::uint32_t given,
                  unsigned bytes);
  void watch_ranges(access_kind kind, state_space space);
  void watch_copy_groups();
  void watch_fence();
  void watch_step(async_step step, std::int64_t value = 0, std::uint32_t vreg = 0);
  void watch_branch(std::uint32_t target);
  void watch_indexed_branch(std::uint32_t index, const std::vector<std::string_view>& labels);
  void find_ways(const control_flow& flow);

  // lower_unset.cpp: values that a thread may read before they are set. In a watched program each
  // register that may hold one has a shadow, a predicate of the lanes for which it does.
  void find_unset(const control_flow& flow);
  void watch_unset();
  void watch_unset_after();
  void watch_unset_guard();
  void begin_unset();
  bool may_be_unset(const operand& o) const;
  std::uint32_t shadow_of(const operand& o);
  std::uint32_t shadow_of_all(const std::vector<operand>& parts, bool is_store);
  bool reads_checked_memory(const ptx::instruction& i) const;
  void note_unset_reads();
  void watch_unset_uses();
  void use_unset(std::uint32_t shadow, unset_use::effect what,
                 const std::vector<std::string_view>& values);
  std::vector<std::uint32_t> origins_of(const std::vector<std::string_view>& values);
  void pass_unset_on();
  void pass_unset(const operand& to, const std::vector<operand>& from);

  // Emission.
  op& emit(const op_entry& r, std::uint32_t d = 0, std::uint32_t a = 0, std::uint32_t b = 0,
           std::uint32_t c = 0);
  op& emit(const std::string& name, std::uint32_t d = 0, std::uint32_t a = 0, std::uint32_t b = 0,
           std::uint32_t c = 0);
  const op_entry& find(const std::string& name) const;
  const op_entry* look_up(const std::string& name) const;  // null if there is none
  std::string text() const { return ptx::spelled(*i_); }
  bool has(std::string_view modifier) const;
  std::string_view type() const {
    return i_->modifiers.empty() ? std::string_view() : i_->modifiers.back();
  }

  // Instructions.
  void instruction(std::uint32_t index);
  void leave_to_sums(std::uint32_t index);
  std::optional<unsupported> refusal_of(const ptx::instruction& as);
  void in_any_order();
  void watched_in_any_order();
  void unguarded();
  void generic();
  void decorated(const std::string& key);
  void keep_factors(std::uint32_t product, const fusion::factors& written);
  void keep_quotient(std::uint32_t product);
  operand factor(std::uint32_t product, std::size_t which) const;
  operand negated(const operand& o, const std::string& type);
  operand named(std::uint32_t vreg, value_class k);
  void fused(const fused_sum& sum);
  void move();
  void pack_vector(const operand& to, const operand& from, unsigned bits);
  void unpack_vector(const operand& to, const operand& from, unsigned bits);
  bool read_clock(const operand& to, std::string_view name, value_class k);
  void set_predicate();
  void compare(const std::string& relation, const std::string& kind, std::uint32_t holds,
               std::uint32_t a, std::uint32_t b);
  void give_predicate(const operand& to, std::uint32_t value, std::uint32_t other);
  void set_value();
  void select_by_sign();
  void address_space();
  void look_up_and_test();
  void video();    // lower_video.cpp
  void texture();  // lower_texture.cpp: tex, tld4, txq, suld, sust, suq
  void convert();
  void convert_to_integer(const std::string& key, std::uint32_t value);
  void convert_narrow(const std::string& to, const std::string& from);  // lower_narrow.cpp
  void convert_pair(const std::string& to, const std::string& from);
  std::uint32_t widened(std::uint32_t vreg, const std::string& from);
  std::uint32_t rounded(std::uint32_t wide, const std::string& to);
  std::uint32_t part_of(std::uint32_t whole, unsigned bits, unsigned part, unsigned index);
  void convert_address();
  void load();
  void store();
  void access_async();
  void load_parameter(const operand& to, std::string_view type, std::uint64_t at);
  void atomic();
  bool is_read(const operand& result);
  void fence();
  void barrier();
  void warp_wide();
  std::uint32_t block_at(std::string_view label) const;
  void branch();
  void branch_indexed();
  void leave();
  void call();
  void stack();           // lower_calls.cpp: alloca, stacksave, stackrestore
  void async_copy();      // lower_async.cpp: cp.async, cp.async.bulk
  void memory_barrier();  // lower_async.cpp: mbarrier
  void bulk_copy();
  void tensor_copy();      // lower_tensor_copy.cpp: cp.async.bulk.tensor
  void edit_tensor_map();  // lower_tensor_copy.cpp: tensormap
  void pixel_offsets(const operand& o, tensor_copy_form& f);
  std::uint32_t tensor_operand(const operand& o, std::uint32_t (&coordinates)[5], unsigned rank);
  void copy_tensor_map();
  void without_effect();  // lower_async.cpp: prefetches and other hints
  void launch_control();
  void cluster_address();
  void elect();
  std::uint32_t generic_address(const operand& o, state_space space);
  void matrix();  // lower_matrix.cpp: ldmatrix, stmatrix, movmatrix, mma, wmma, wgmma
  void multiply_matrices();
  void multiply_by_warpgroup();
  void move_matrix_tile();
  void move_small_matrices();
  matrix_fragment fragment(const operand& o, matrix_type type, bool is_result,
                           std::size_t most = 8);
  void whole_warp();
  void move_registers();
  void emit_matrix(const char* name, const matrix_form& form);

  void find_blocks();

  // In lower_calls.cpp.
  void library_function(device_function which, const std::vector<const ptx::variable*>& arguments,
                        const std::vector<const ptx::variable*>& results);
  void runtime_call(const runtime_form& form, const std::vector<const ptx::variable*>& arguments,
                    const std::vector<const ptx::variable*>& results);
  void call_library(library_call site, const std::vector<const ptx::variable*>& arguments,
                    const std::vector<const ptx::variable*>& results);
  const ptx::variable* call_variable(const operand& o) const;
  void check_parameters(const ptx::function& f, const std::vector<const ptx::variable*>& results,
                        const std::vector<const ptx::variable*>& arguments) const;

  const call_plan& plan_;
  std::size_t part_;
  const ptx::module& module_;
  const ptx::function& function_;
  program& out_;
  program_function& frame_;
  const ptx::body& body_;
  const ptx::instruction* i_ = nullptr;        // the instruction to lower
  const ptx::instruction* written_ = nullptr;  // the same, as written in the body
  std::uint32_t ordinal_ = 0;
  std::uint32_t next_vreg_ = 64;  // offset 0 is never a vector register

  std::unordered_map<std::string, register_info> registers_;
  std::unordered_map<std::string_view, counted_register> counted_registers_;   // by prefix
  std::unordered_map<std::string_view, const ptx::variable*> call_variables_;  // in .param space
  std::optional<std::unordered_set<std::string_view>> names_read_;  // filled when first needed
  std::unordered_map<std::string_view, mentions> mentions_;         // filled when first needed
  std::unordered_set<std::uint32_t> fixed_vregs_;  // constants, parameters, special registers
  std::uint32_t carry_vreg_ = no_operand;          // predicate: what add.cc leaves for addc

  std::map<std::pair<unsigned, std::uint64_t>, std::uint32_t> constants_;
  std::map<std::pair<int, unsigned>, std::uint32_t> specials_;
  std::unordered_map<std::string_view, std::pair<state_space, std::uint64_t>>
      locals_;  // by name: state space and offset

  fusion fusion_;
  std::map<std::pair<std::uint32_t, std::size_t>, operand> kept_factors_;  // by product
  std::list<std::string> vreg_names_;  // names of registers that are not in the PTX

  struct unset_value {
    std::uint32_t shadow = no_operand;   // created when first requested
    std::vector<std::string_view> from;  // the values that it is computed from
    std::vector<std::uint32_t> origins;  // its own, as indices into program::unset_origins
    // The first of them is a register that is read before it is written.
    bool is_register_origin = false;
  };
  std::unordered_map<std::string_view, unset_value> unset_;  // registers that may hold such a value
  bool checks_local_ = false, checks_shared_ = false;        // loads that may return one
  std::size_t origin_steps_ = 0;                             // steps left in the search for origins
  std::uint32_t shuffled_shadow_ = 0;                        // of the shuffle that is being lowered

  // Control flow: blocks of instructions.
  std::vector<std::uint32_t> block_of_;                           // instruction -> block
  std::vector<std::uint32_t> block_start_;                        // block -> its first instruction
  std::vector<meeting_point> meets_;                              // block -> where its paths meet
  std::vector<std::vector<std::uint32_t>> ways_;                  // block -> towards barriers
  std::vector<bool> is_meeting_;                                  // block begins with a join
  std::vector<std::uint32_t> block_op_;                           // block -> its first op
  std::vector<std::pair<std::uint32_t, std::uint32_t>> targets_;  // op -> block, to be patched
  std::vector<std::pair<std::uint32_t, meeting_point>> joins_;    // op -> blocks of its joins
  std::vector<std::size_t> tables_;  // jump tables of blocks, to be patched
};

}  // namespace stepwise::emulator
