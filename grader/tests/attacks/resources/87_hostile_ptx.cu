// attack reduction: COMPILE or CRASH or CHECK or WRONG or INFRA, at most 0 points
// has PTX that no compiler writes: wild branches, huge vectors, odd directives
#include "labs/reduction/reduction.hpp"

__global__ void odd(int* out) {
  asm volatile(
      "{\n"
      ".reg .b64 far;\n"
      ".reg .pred p;\n"
      ".local .align 16 .b8 large[262144];\n"
      "mov.u64 far, large;\n"
      "setp.ne.s64 p, far, 0x7fffffffffffffff;\n"
      "again:\n"
      "st.local.u32 [far + 262140], 7;\n"
      "@!p bra again;\n"
      "ld.global.u32 %0, [far];\n"
      "}\n"
      : "=r"(*out));
}

void reduce(const int*, int* out, int*, int) { odd<<<1, 1>>>(out); }
