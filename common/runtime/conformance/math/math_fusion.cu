// Products and sums without a rounding modifier, in PTX: which of them ptxas makes one fma, and so
// one rounding. For x = 1 + 2^-12 and r = 1 + 2^-11, x * x - r is 2^-24 when fused and 0 if not.
#include "common/emulator/tests/programs/program.hpp"

namespace {

constexpr int patterns = 24;
struct expectation {
  const char* pattern;
  int fused;  // 1: 2^-24, -1: -2^-24, 0: not fused
};
constexpr expectation expected[patterns] = {
    {"a * b - c", 1},
    {"c - a * b", -1},
    {"mul.rn", 0},
    {"sub.rn", 0},
    {"two sums, the first", 1},
    {"two sums, the second", -1},
    {"product stored, too", 0},
    {"sum in another block", 0},
    {"sum in another block, a factor constant", 1},
    {"sum in another block, a factor a parameter", 1},
    {"sum behind a division", 0},
    {"sum behind a barrier", 1},
    {"a * b - c * d: the first", 1},
    {"c * d added elsewhere, too: a * b", 1},
    {"a * b added elsewhere, too: c * d", -1},
    {"the product twice", 0},
    {"negated product", -1},
    {"guarded sum", 1},
    {"guarded product", 0},
    {"selected product", 0},
    {".ftz on both", 1},
    {".ftz on the product", 0},
    {"the sum compared with zero", 0},
    {"factor overwritten", 1},
};

// One asm statement each, so that nvcc's own optimiser does not touch it.
__global__ void compute(float x, float r, int one, float* out, float* rest) {
  const float a = rest[0], b = rest[0], c = rest[1];  // x, x, r, which nvcc does not know
  int k = 0;
#define PATTERN(text)                                                                     \
  asm volatile("{.reg .f32 m, n, s, t; .reg .pred p, q; setp.eq.s32 p, %5, 1;\n" text "}" \
               : "=f"(out[k])                                                             \
               : "f"(a), "f"(b), "f"(c), "l"(rest), "r"(one), "f"(x), "f"(r)              \
               : "memory");                                                               \
  ++k
  PATTERN("mul.f32 m, %1, %2; sub.f32 %0, m, %3;\n");
  PATTERN("mul.f32 m, %1, %2; sub.f32 %0, %3, m;\n");
  PATTERN("mul.rn.f32 m, %1, %2; sub.f32 %0, m, %3;\n");
  PATTERN("mul.f32 m, %1, %2; sub.rn.f32 %0, m, %3;\n");
  PATTERN("mul.f32 m, %1, %2; sub.f32 %0, m, %3; sub.f32 s, %3, m; st.global.f32 [%4+8], s;\n");
  PATTERN("mul.f32 m, %1, %2; sub.f32 s, m, %3; sub.f32 %0, %3, m; st.global.f32 [%4+8], s;\n");
  PATTERN("mul.f32 m, %1, %2; sub.f32 %0, m, %3; st.global.f32 [%4+8], m;\n");
  PATTERN(
      "mul.f32 m, %1, %2; mov.f32 %0, %1; @!p bra E; sub.f32 %0, m, %3; "
      "st.global.f32 [%4+8], %0;\nE:\n");
  PATTERN(
      "mul.f32 m, %1, 0f3F800800; mov.f32 %0, %1; @!p bra E; sub.f32 %0, m, %3; "
      "st.global.f32 [%4+8], %0;\nE:\n");
  PATTERN(
      "mul.f32 m, %1, %6; mov.f32 %0, %1; @!p bra E; sub.f32 %0, m, %3; "
      "st.global.f32 [%4+8], %0;\nE:\n");
  PATTERN("mul.f32 m, %1, %2; div.rn.f32 s, %1, %3; sub.f32 %0, m, %3; st.global.f32 [%4+8], s;\n");
  PATTERN("mul.f32 m, %1, %2; bar.sync 0; sub.f32 %0, m, %3;\n");
  PATTERN("mul.f32 m, %1, %2; mul.f32 n, %2, %1; sub.f32 %0, m, n;\n");
  PATTERN(
      "mul.f32 m, %1, %2; mul.f32 n, %1, 0f3F800800; sub.f32 %0, m, n; sub.f32 s, n, %3; "
      "st.global.f32 [%4+8], s;\n");
  PATTERN(
      "mul.f32 m, %1, %2; mul.f32 n, %1, 0f3F800800; sub.f32 %0, m, n; sub.f32 s, m, %3; "
      "st.global.f32 [%4+8], s;\n");
  PATTERN("mul.f32 m, %1, %2; sub.f32 %0, m, m;\n");
  PATTERN("mul.f32 m, %1, %2; neg.f32 n, m; add.f32 %0, n, %3;\n");
  PATTERN("mul.f32 m, %1, %2; mov.f32 %0, %1; @p sub.f32 %0, m, %3;\n");
  PATTERN("mov.f32 m, %3; @p mul.f32 m, %1, %2; sub.f32 %0, m, %3;\n");
  PATTERN("mul.f32 m, %1, %2; selp.f32 n, m, %1, p; sub.f32 %0, n, %3;\n");
  PATTERN("mul.ftz.f32 m, %1, %2; sub.ftz.f32 %0, m, %3;\n");
  PATTERN("mul.ftz.f32 m, %1, %2; sub.f32 %0, m, %3;\n");
  PATTERN(
      "mul.f32 m, %1, %2; sub.f32 %0, m, %3; sub.f32 s, m, %1; setp.gt.f32 q, s, 0f00000000; "
      "@q st.global.f32 [%4+8], %0;\n");
  PATTERN("mov.f32 n, %1; mul.f32 m, n, %2; mov.f32 n, %3; sub.f32 %0, m, n;\n");
#undef PATTERN
}

}  // namespace

int main() {
  constexpr float x = 1.0f + 0x1p-12f, r = 1.0f + 0x1p-11f;
  const device_array<float> rest({x, r, 0, 0}), computed(patterns);
  compute<<<1, 1>>>(x, r, 1, computed.get(), rest.get());
  finish();
  const std::vector<float> out = computed.values();
  int wrong = 0;
  for (int k = 0; k < patterns; ++k) {
    const float wanted = static_cast<float>(expected[k].fused) * 0x1p-24f;
    if (out[k] == wanted) continue;
    ++wrong;
    std::printf("%s: %a, expected %a\n", expected[k].pattern, out[k], wanted);
  }
  if (wrong == 0) std::printf("math_fusion: %d, all right\n", patterns);
  return wrong == 0 ? 0 : 1;
}
