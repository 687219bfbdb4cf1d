// The row files, compiled once per instruction set: see meson.build.
#pragma once

#include "common/emulator/rows/row.hpp"

namespace stepwise::emulator {

#define STEPWISE_DECLARE_ROWS(simd) \
  namespace simd {                  \
  void integer_rows(row_table&);    \
  void floating_rows(row_table&);   \
  void compare_rows(row_table&);    \
  void convert_rows(row_table&);    \
  void memory_rows(row_table&);     \
  void matrix_rows(row_table&);     \
  void half_rows(row_table&);       \
  void rounding_rows(row_table&);   \
  }
STEPWISE_DECLARE_ROWS(baseline)
STEPWISE_DECLARE_ROWS(avx2)
STEPWISE_DECLARE_ROWS(avx512)
#undef STEPWISE_DECLARE_ROWS

}  // namespace stepwise::emulator
