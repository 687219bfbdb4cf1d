// The op files, compiled once per instruction set: see meson.build.
#pragma once

#include "common/emulator/ops/op_entry.hpp"

namespace stepwise::emulator {

#define STEPWISE_DECLARE_ROWS(simd) \
  namespace simd {                  \
  void integer_ops(op_table&);      \
  void floating_ops(op_table&);     \
  void compare_ops(op_table&);      \
  void convert_ops(op_table&);      \
  void memory_ops(op_table&);       \
  void matrix_ops(op_table&);       \
  void warpgroup_ops(op_table&);    \
  void half_ops(op_table&);         \
  void rounding_ops(op_table&);     \
  }
STEPWISE_DECLARE_ROWS(baseline)
STEPWISE_DECLARE_ROWS(avx2)
STEPWISE_DECLARE_ROWS(avx512)
#undef STEPWISE_DECLARE_ROWS

}  // namespace stepwise::emulator
