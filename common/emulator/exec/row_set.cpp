// Picks the rows that this CPU runs fastest.
#include "common/emulator/exec/simd.hpp"

namespace stepwise::emulator {

const row_set& best_row_set() {
#define STEPWISE_ROWS(simd)                                                              \
  {                                                                                      \
    &simd::integer_rows, &simd::floating_rows, &simd::compare_rows, &simd::convert_rows, \
        &simd::memory_rows, &simd::matrix_rows, &simd::half_rows                         \
  }
  static constexpr row_set plain = STEPWISE_ROWS(baseline);
#ifdef STEPWISE_BASELINE_ONLY  // a build with sanitizers
  return plain;
#else
  static constexpr row_set wide = STEPWISE_ROWS(avx2), widest = STEPWISE_ROWS(avx512);
  __builtin_cpu_init();
  const bool has_avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                        __builtin_cpu_supports("bmi2");
  const bool has_avx512 = has_avx2 && __builtin_cpu_supports("avx512f") &&
                          __builtin_cpu_supports("avx512bw") &&
                          __builtin_cpu_supports("avx512dq") &&
                          __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512cd");
  return has_avx512 ? widest : has_avx2 ? wide : plain;
#endif
#undef STEPWISE_ROWS
}

}  // namespace stepwise::emulator
