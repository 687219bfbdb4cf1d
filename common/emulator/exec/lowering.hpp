// The state of one kernel's lowering, shared by the files lower*.cpp.
//
// idea    Every instruction becomes the name of a row ("add.s32", "ld.global.u32.b32.a64"), its
//         operands become row offsets. What has no row fails the launch by name; nothing is
//         guessed.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "common/emulator/exec/program.hpp"
#include "common/emulator/exec/row.hpp"

namespace stepwise::emulator {

using ptx::operand;
using ptx::operand_kind;
using ptx::scalar_type;
using ptx::state_space;

// What the emulator does not implement, in words that follow "does not implement".
struct unsupported {
  std::string what;
};

// Width of a value's register; 0 for a predicate.
unsigned bits_of(value_class k);
value_class class_of_bits(unsigned bits);
// The 16 of "s16" or "b16".
unsigned type_bits(std::string_view type);

struct register_info {
  value_class kind = value_class::none;
  std::uint32_t offset = no_row;
};

class lowering {
 public:
  lowering(const ptx::module& m, const ptx::function& f, const symbol_table& symbols, program& out)
      : module_(m), function_(f), symbols_(symbols), out_(out), body_(m.body_of(f)) {
    out_.module = &m;
    out_.function = &f;
    out_.body = &body_;
    out_.name = f.name;
  }

  void run();
  std::string where() const;

 private:
  // Storage.
  std::uint32_t take(unsigned row_bytes);
  std::uint32_t new_row(value_class k);
  std::uint32_t constant(value_class k, std::uint64_t value);
  std::uint32_t special_row_of(special which, unsigned bits);
  void declare_registers();
  void place_variables();
  const register_info* find_register(std::string_view name);
  std::uint64_t symbol_address(std::string_view name, bool generic) const;

  // Operands.
  std::uint32_t source(const operand& o, value_class k);
  std::uint32_t destination(const operand& o, value_class k);
  unsigned register_bits(const operand& o);
  struct address {
    std::uint32_t row;
    std::int64_t offset;
    unsigned bits;
  };
  address memory_address(const operand& o, state_space space);

  // Emission.
  op& emit(const row& r, std::uint32_t d = 0, std::uint32_t a = 0, std::uint32_t b = 0,
           std::uint32_t c = 0);
  op& emit(const std::string& name, std::uint32_t d = 0, std::uint32_t a = 0, std::uint32_t b = 0,
           std::uint32_t c = 0);
  const row& find(const std::string& name) const;
  const row* look_up(const std::string& name) const;  // null if there is none
  std::string text() const { return std::string(i_->text); }
  bool has(std::string_view modifier) const;
  std::string_view type() const {
    return i_->modifiers.empty() ? std::string_view() : i_->modifiers.back();
  }

  // Instructions.
  void instruction(std::uint32_t index);
  void unguarded();
  void generic();
  void decorated(const std::string& key);
  void move();
  void set_predicate();
  void compare(const std::string& relation, const std::string& kind, std::uint32_t holds,
               std::uint32_t a, std::uint32_t b);
  void give_predicate(const operand& to, std::uint32_t value, std::uint32_t other);
  void set_value();
  void select_by_sign();
  void address_space();
  void look_up_and_test();
  void convert();
  void convert_to_integer(const std::string& key, std::uint32_t value);
  void convert_narrow(const std::string& to, const std::string& from);  // lower_narrow.cpp
  void convert_pair(const std::string& to, const std::string& from);
  std::uint32_t widened(std::uint32_t row, const std::string& from);
  std::uint32_t rounded(std::uint32_t wide, const std::string& to);
  std::uint32_t part_of(std::uint32_t whole, unsigned bits, unsigned part, unsigned index);
  void convert_address();
  void load();
  void store();
  void load_parameter(const operand& to, std::string_view type, std::uint64_t at);
  void atomic();
  void fence();
  void barrier();
  void warp_wide();
  void branch();
  void leave();
  void call();            // lower_calls.cpp
  void async_copy();      // lower_async.cpp: cp.async, cp.async.bulk
  void memory_barrier();  // lower_async.cpp: mbarrier
  void bulk_copy();
  void without_effect();  // lower_async.cpp: prefetches and other hints
  void cluster_address();
  void elect();
  std::uint32_t generic_address(const operand& o, state_space space);
  void whole_warp();  // lower_matrix.cpp
  void matrix();      // lower_matrix.cpp: ldmatrix, stmatrix, movmatrix, mma, wmma

  void find_blocks();

  const ptx::module& module_;
  const ptx::function& function_;
  const symbol_table& symbols_;
  program& out_;
  const ptx::body& body_;
  const ptx::instruction* i_ = nullptr;
  std::uint32_t ordinal_ = 0;
  std::uint32_t next_row_ = 64;  // offset 0 is never a row

  std::unordered_map<std::string, register_info> registers_;
  std::uint32_t carry_row_ = no_row;  // predicate: what add.cc leaves for addc

  std::map<std::pair<unsigned, std::uint64_t>, std::uint32_t> constants_;
  std::map<std::pair<int, unsigned>, std::uint32_t> specials_;
  std::unordered_map<std::string_view, std::pair<state_space, std::uint64_t>>
      locals_;  // places in the block

  // Control flow: blocks of instructions.
  std::vector<std::uint32_t> block_of_;     // instruction -> block
  std::vector<std::uint32_t> block_start_;  // block -> its first instruction
  std::vector<std::uint32_t> meets_;        // block -> immediate post-dominator
  std::vector<bool> is_meeting_;            // block begins with a join
  std::vector<std::uint32_t> block_op_;     // block -> its first op
  std::vector<std::pair<std::uint32_t, std::uint32_t>> targets_;  // op -> block, to be patched
  std::vector<std::pair<std::uint32_t, std::uint32_t>> joins_;    // op -> block of its join
};

}  // namespace stepwise::emulator
