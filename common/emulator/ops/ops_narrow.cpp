// Steps of conversions to and from narrow formats: "widen.u64" returns f64, "narrow.rz.f16" takes
// f64. "cvt.rz.f16.f64" is a whole instruction. The common steps are in ops_half.cpp.
//
// source  PTX ISA 9.0, "cvt". Tested by tests/opcodes/cvt_*.ptx and tests/narrow_test.cpp.
#include "common/emulator/ops/narrow.hpp"

namespace stepwise::emulator {
namespace {

template <class F, class Word, int Shift, rounding Mode>
void format_ops(op_table& t, const op_name& mode, const char* type) {
  add_op<Word, f64>(t, "narrow." + mode + "." + type,
                    [](f64 a) { return static_cast<Word>(narrow<F>(a, Mode) << Shift); });
  add_op<Word, f64>(t, "narrow." + mode + ".satfinite." + type,
                    [](f64 a) { return static_cast<Word>(narrow<F>(a, Mode, true) << Shift); });
}

template <rounding Mode>
void mode_ops(op_table& t, const op_name& mode) {
  if constexpr (Mode != rounding::nearest) {
    format_ops<f16, u16, 0, Mode>(t, mode, "f16");
    format_ops<bf16, u16, 0, Mode>(t, mode, "bf16");
    format_ops<e4m3, u16, 0, Mode>(t, mode, "e4m3");
    format_ops<e5m2, u16, 0, Mode>(t, mode, "e5m2");
  }
  format_ops<tf32, u32, 13, Mode>(t, mode, "tf32");
  add_op<u16, f64>(t, "cvt." + mode + ".f16.f64",
                   [](f64 a) { return static_cast<u16>(narrow_double<f16>(a, Mode)); });
  add_op<u16, f64>(t, "cvt." + mode + ".bf16.f64",
                   [](f64 a) { return static_cast<u16>(narrow_double<bf16>(a, Mode)); });
}

}  // namespace

void narrow_ops(op_table& t) {
  add_op<f64, u64>(t, "widen.u64", [](u64 a) { return odd_double(a); });
  add_op<f64, s64>(t, "widen.s64", [](s64 a) { return odd_double(a); });
  mode_ops<rounding::nearest>(t, "rn");
  mode_ops<rounding::away>(t, "rna");
  mode_ops<rounding::zero>(t, "rz");
  mode_ops<rounding::down>(t, "rm");
  mode_ops<rounding::up>(t, "rp");
}

}  // namespace stepwise::emulator
