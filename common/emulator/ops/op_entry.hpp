// An entry of the op table: which function executes an operation, and the types of its operands.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "common/emulator/machine/context.hpp"

namespace stepwise::emulator {

// The type of an operand for lowering: it decides which registers fit and how a literal is stored.
enum class value_class : std::uint8_t { none, predicate, b16, b32, b64, f32, f64 };

// A name built from parts: "cvt." + type_name<D>() + ".f32". With std::string, the code of each +
// in a few thousand ops took half of their compile time.
class op_name {
 public:
  op_name(const char* text);  // NOLINT(google-explicit-constructor): a part of a name
  friend op_name operator+(const op_name& a, const op_name& b);  // std::length_error above 55

  std::string_view text() const { return {text_, size_}; }

 private:
  op_name() = default;
  void append(std::string_view part);

  char text_[55];
  unsigned char size_ = 0;
};

struct op_entry {
  op_name name;  // "add.s32": what lowering looks up
  handler run;
  value_class d, a, b, c;
};
using op_table = std::vector<op_entry>;
void add_op(op_table& table, const op_name& name, handler run, value_class d, value_class a,
            value_class b, value_class c);

// Functions that append the ops of one instruction set to a table, one per file.
struct op_set {
  void (*integer)(op_table&);
  void (*floating)(op_table&);
  void (*compare)(op_table&);
  void (*convert)(op_table&);
  void (*memory)(op_table&);
  void (*matrix)(op_table&);     // ldmatrix, mma, wmma
  void (*warpgroup)(op_table&);  // wgmma
  void (*half)(op_table&);       // f16, bf16 and their pairs
  void (*rounding)(op_table&);   // .rz .rm .rp of floating-point arithmetic
};

// The ops compiled for the best instruction set that this CPU supports. If it supports none, the
// ops must not run, and missing_instruction_set() names the missing one ("AVX2"; else null).
const op_set& best_op_set();
const char* missing_instruction_set();
// Ops that exist once, because their work is scalar or rare.
void atomic_ops(op_table& table);
void control_ops(op_table& table);
void watch_ops(op_table& table);   // notify observers of accesses
void narrow_ops(op_table& table);  // conversions of f16, bf16, tf32, e4m3, e5m2
void carry_ops(op_table& table);   // add.cc, addc, madc ...
void packed_ops(op_table& table);  // several integers in a register: dp2a, prmt ...
void video_ops(op_table& table);   // vadd, vabsdiff4 ...
void async_ops(op_table& table);   // cp.async, mbarrier
void call_ops(op_table& table);    // calls and returns, printf, malloc

}  // namespace stepwise::emulator
