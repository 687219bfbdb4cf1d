// A row: which function executes a PTX operation, and of what type its operands are.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "common/emulator/machine/context.hpp"

namespace stepwise::emulator {

// The type of an operand as lowering needs it: which registers fit, how a literal is stored.
enum class value_class : std::uint8_t { none, predicate, b16, b32, b64, f32, f64 };

// Put together from parts: "cvt." + type_name<D>() + ".f32". Not a std::string, whose code at each
// + of some thousand rows took half of their compile time.
class row_name {
 public:
  row_name(const char* text);  // NOLINT(google-explicit-constructor): a part of a name
  friend row_name operator+(const row_name& a, const row_name& b);  // std::length_error above 55

  std::string_view text() const { return {text_, size_}; }

 private:
  row_name() = default;
  void append(std::string_view part);

  char text_[55];
  unsigned char size_ = 0;
};

struct row {
  row_name name;  // "add.s32": what lowering looks up
  handler run;
  value_class d, a, b, c;
};
using row_table = std::vector<row>;
void add_row(row_table& table, const row_name& name, handler run, value_class d, value_class a,
             value_class b, value_class c);

// The rows of one instruction set, by file; appended to `table`.
struct row_set {
  void (*integer)(row_table&);
  void (*floating)(row_table&);
  void (*compare)(row_table&);
  void (*convert)(row_table&);
  void (*memory)(row_table&);
  void (*matrix)(row_table&);    // ldmatrix, mma, wmma
  void (*half)(row_table&);      // f16, bf16 and their pairs
  void (*rounding)(row_table&);  // .rz .rm .rp of floating-point arithmetic
};

// The rows compiled for the best instruction set that this CPU has; where it has none of them, rows
// that must not be run, and the name of what is missing ("AVX2"; else null).
const row_set& best_row_set();
const char* missing_instruction_set();
// Rows that exist once, because their work is scalar or rare.
void atomic_rows(row_table& table);
void control_rows(row_table& table);
void watch_rows(row_table& table);   // notify observers of accesses
void narrow_rows(row_table& table);  // conversions of f16, bf16, tf32, e4m3, e5m2
void carry_rows(row_table& table);   // add.cc, addc, madc ...
void packed_rows(row_table& table);  // several integers in a register: dp2a, vabsdiff4 ...
void video_rows(row_table& table);   // vadd, vabsdiff4 ...
void async_rows(row_table& table);   // cp.async, mbarrier
void call_rows(row_table& table);    // calls and returns, printf, malloc

}  // namespace stepwise::emulator
