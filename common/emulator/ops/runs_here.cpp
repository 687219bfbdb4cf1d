// Prints yes if this CPU has the instruction set that this is compiled for.
#include <cstdio>

int main() {
  __builtin_cpu_init();
  bool has = true;
#ifdef __AVX2__
  has = has && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        __builtin_cpu_supports("bmi2");
#endif
#ifdef __AVX512VL__
  has = has && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512cd");
#endif
  if (has) std::fputs("yes", stdout);
}
