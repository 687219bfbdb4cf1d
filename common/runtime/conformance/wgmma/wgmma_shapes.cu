// wgmma: all types, several widths, both majors and all swizzles, operands in shared memory and in
// registers, with and without D as an addend. The values are small integers, so all sums are exact.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include "wgmma_product.hpp"

#define SHARED "%2"
#define REGISTERS "{a0, a1, a2, a3}"
WGMMA_KERNEL(bf16_8, "m64n8k16.f32.bf16.bf16", 4, "f32", SHARED, ", 1, 1, 0, 0")
WGMMA_KERNEL(bf16_24, "m64n24k16.f32.bf16.bf16", 12, "f32", SHARED, ", 1, 1, 0, 0")
WGMMA_KERNEL(bf16_64, "m64n64k16.f32.bf16.bf16", 32, "f32", SHARED, ", 1, 1, 0, 0")
WGMMA_KERNEL(bf16_64_b, "m64n64k16.f32.bf16.bf16", 32, "f32", SHARED, ", 1, 1, 0, 1")
WGMMA_KERNEL(bf16_64_a, "m64n64k16.f32.bf16.bf16", 32, "f32", SHARED, ", 1, 1, 1, 0")
WGMMA_KERNEL(bf16_64_ab, "m64n64k16.f32.bf16.bf16", 32, "f32", SHARED, ", 1, 1, 1, 1")
WGMMA_KERNEL(bf16_128, "m64n128k16.f32.bf16.bf16", 64, "f32", SHARED, ", 1, 1, 0, 1")
WGMMA_KERNEL(bf16_256, "m64n256k16.f32.bf16.bf16", 128, "f32", SHARED, ", 1, 1, 0, 0")
WGMMA_KERNEL(bf16_minus, "m64n32k16.f32.bf16.bf16", 16, "f32", SHARED, ", -1, 1, 0, 0")
WGMMA_KERNEL(bf16_plus, "m64n32k16.f32.bf16.bf16", 16, "f32", SHARED, ", -1, -1, 0, 0")
WGMMA_KERNEL(bf16_rs, "m64n32k16.f32.bf16.bf16", 16, "f32", REGISTERS, ", 1, 1, 0")
WGMMA_KERNEL(bf16_rs_b, "m64n64k16.f32.bf16.bf16", 32, "f32", REGISTERS, ", 1, -1, 1")
WGMMA_KERNEL(f16_32, "m64n32k16.f32.f16.f16", 16, "f32", SHARED, ", 1, 1, 0, 0")
WGMMA_KERNEL(f16_16_half, "m64n16k16.f16.f16.f16", 4, "b32", SHARED, ", 1, 1, 0, 0")
WGMMA_KERNEL(f16_64_half, "m64n64k16.f16.f16.f16", 16, "b32", REGISTERS, ", 1, 1, 0")
WGMMA_KERNEL(tf32_32, "m64n32k8.f32.tf32.tf32", 16, "f32", SHARED, ", 1, 1")
WGMMA_KERNEL(tf32_rs, "m64n16k8.f32.tf32.tf32", 8, "f32", REGISTERS, ", 1, 1")
WGMMA_KERNEL(e4m3_32, "m64n32k32.f32.e4m3.e4m3", 16, "f32", SHARED, ", 1, 1")
WGMMA_KERNEL(mixed_16, "m64n16k32.f32.e5m2.e4m3", 8, "f32", SHARED, ", 1, 1")
WGMMA_KERNEL(e5m2_half, "m64n32k32.f16.e5m2.e5m2", 8, "b32", REGISTERS, ", 1, 1")
WGMMA_KERNEL(s8_32, "m64n32k32.s32.s8.s8", 16, "b32", SHARED, "")
WGMMA_KERNEL(mixed_24, "m64n24k32.s32.u8.s8", 12, "b32", SHARED, "")
WGMMA_KERNEL(u8_rs, "m64n16k32.s32.u8.u8", 8, "b32", REGISTERS, "")
WGMMA_KERNEL(s8_clamped, "m64n16k32.s32.s8.s8.satfinite", 8, "b32", SHARED, "")
WGMMA_KERNEL(b1_32, "m64n32k256.s32.b1.b1.and.popc", 16, "b32", SHARED, "")
WGMMA_KERNEL(b1_rs, "m64n16k256.s32.b1.b1.and.popc", 8, "b32", REGISTERS, "")

namespace {

enum class element { bf16, f16, tf32, e4m3, e5m2, s8, u8, b1 };

int bits_of(element t) {
  return t == element::b1                          ? 1
         : t == element::tf32                      ? 32
         : t == element::bf16 || t == element::f16 ? 16
                                                   : 8;
}

std::uint32_t encoded(element t, int value) {
  const auto f = static_cast<float>(value);
  std::uint32_t word = 0;
  switch (t) {
    case element::bf16: {
      const __nv_bfloat16 x = __float2bfloat16(f);
      std::memcpy(&word, &x, sizeof x);
      return word;
    }
    case element::f16: {
      const __half x = __float2half(f);
      std::memcpy(&word, &x, sizeof x);
      return word;
    }
    case element::tf32:
      std::memcpy(&word, &f, sizeof f);
      return word | 0x155;  // bits that are ignored
    case element::e4m3:
      return __nv_cvt_float_to_fp8(f, __NV_SATFINITE, __NV_E4M3);
    case element::e5m2:
      return __nv_cvt_float_to_fp8(f, __NV_SATFINITE, __NV_E5M2);
    default:
      return static_cast<std::uint32_t>(value) & (t == element::b1 ? 1 : 0xff);
  }
}

// Small enough for every type.
int value_at(element t, int line, int k) {
  const int x = (line * 5 + k * 3 + line * k) % 7;
  return t == element::b1 ? x & 1 : t == element::u8 ? x : x - 3;
}

void put(std::vector<std::uint8_t>& bytes, std::size_t bit, int bits, std::uint32_t word) {
  for (int b = 0; b < bits; ++b)
    bytes[(bit + b) / 8] |= static_cast<std::uint8_t>((word >> b & 1) << (bit + b) % 8);
}

struct test {
  const char* name;
  void (*kernel)(product_arguments);
  int n;
  element a, b;
  int a_sign = 1, b_sign = 1;
  bool half = false, integer = false;
};

// Where element i of D is in a thread's registers, by PTX.
int row_of(int thread, int i) { return thread / 32 * 16 + thread % 32 / 4 + 8 * (i / 2 % 2); }
int column_of(int thread, int i) { return i / 4 * 8 + thread % 4 * 2 + i % 2; }

int run(const test& t, operand_layout a, operand_layout b, bool in_registers, bool adds) {
  const int bits = bits_of(t.a), k_count = 8 * line_bytes / bits, elements = t.n / 2;
  constexpr int image_bytes = 96 * 1024, b_offset = 32 * 1024;
  std::vector<std::uint8_t> image(image_bytes);
  std::vector<std::uint32_t> registers(4 * warpgroup_threads);
  const auto fill = [&](const operand_layout& in, element type, int lines, int start) {
    for (int line = 0; line < lines; ++line)
      for (int k = 0; k < k_count; ++k) {
        const std::size_t at =
            bits == 1 ? 8u * in.offset(line, k / 8, 1) + k % 8 : 8u * in.offset(line, k, bits / 8);
        put(image, 8u * start + at, bits, encoded(type, value_at(type, line, k)));
      }
  };
  if (!in_registers) fill(a, t.a, rows, 0);
  fill(b, t.b, t.n, b_offset);
  // A in registers: each register holds 32 bits of a row; see PTX's figures.
  for (int thread = 0; thread < warpgroup_threads; ++thread)
    for (int r = 0; r < 4; ++r)
      for (int e = 0; e < 32 / bits; ++e) {
        const int row = thread / 32 * 16 + thread % 32 / 4 + 8 * (r % 2);
        const int k = (r / 2 * 4 + thread % 4) * (32 / bits) + e;
        registers[r * warpgroup_threads + thread] |= encoded(t.a, value_at(t.a, row, k))
                                                     << (e * bits);
      }
  const int words = t.half ? elements / 2 : elements;
  std::vector<std::uint32_t> before(words * warpgroup_threads), expected(before.size());
  const auto put_sum = [&](std::vector<std::uint32_t>& to, int thread, int i, int sum) {
    std::uint32_t word;
    const auto f = static_cast<float>(sum);
    if (t.integer) {
      word = static_cast<std::uint32_t>(sum);
    } else if (t.half) {
      to[thread * words + i / 2] |= encoded(element::f16, sum) << (i % 2 * 16);
      return;
    } else {
      std::memcpy(&word, &f, sizeof f);
    }
    to[thread * words + i] = word;
  };
  for (int thread = 0; thread < warpgroup_threads; ++thread)
    for (int i = 0; i < elements; ++i) {
      const int row = row_of(thread, i), column = column_of(thread, i);
      const int addend = (row * 3 + column) % 50 - 20;
      put_sum(before, thread, i, addend);
      int sum = adds ? addend : 0;
      for (int k = 0; k < k_count; ++k)
        sum += t.a_sign * value_at(t.a, row, k) * t.b_sign * value_at(t.b, column, k);
      put_sum(expected, thread, i, sum);
    }
  device_array<std::uint8_t> d_image(image);
  device_array<std::uint32_t> d_registers(registers), d_before(before), d_after(before.size());
  check(cudaFuncSetAttribute(reinterpret_cast<const void*>(t.kernel),
                             cudaFuncAttributeMaxDynamicSharedMemorySize, image_bytes));
  t.kernel<<<1, warpgroup_threads, image_bytes>>>(
      {d_image.get(), image_bytes, b_offset, a.descriptor(), b.descriptor(), d_registers.get(),
       d_before.get(), d_after.get(), adds});
  finish();
  if (d_after.values() == expected) return 0;
  std::printf("%s, pattern %d %d, major %d %d, step %d, adds %d: wrong\n", t.name, a.pattern,
              b.pattern, a.is_mn_major, b.is_mn_major, a.step, adds);
  return 1;
}

}  // namespace

int main() {
  int wrong = 0;
  const test plain{"bf16 64", bf16_64, 64, element::bf16, element::bf16};
  for (const int pattern : {0, 32, 64, 128}) {
    for (int step = 0; step < (pattern == 0 ? 1 : pattern / line_bytes); ++step)
      wrong += run(plain, k_major(pattern, step), k_major(pattern, step), false, step % 2 == 0);
    const operand_layout mn = mn_major(pattern, 64);
    wrong += run({"bf16 64 b", bf16_64_b, 64, element::bf16, element::bf16}, k_major(128), mn,
                 false, true);
    wrong += run({"bf16 64 a", bf16_64_a, 64, element::bf16, element::bf16}, mn, k_major(pattern),
                 false, true);
    wrong += run({"bf16 64 ab", bf16_64_ab, 64, element::bf16, element::bf16}, mn_major(128, 64),
                 mn, false, false);
    wrong += run({"bf16 128", bf16_128, 128, element::bf16, element::bf16}, k_major(pattern),
                 mn_major(pattern, 128), false, true);
    wrong +=
        run({"bf16 rs b", bf16_rs_b, 64, element::bf16, element::bf16, 1, -1}, {}, mn, true, true);
    wrong += run({"tf32 32", tf32_32, 32, element::tf32, element::tf32}, k_major(pattern),
                 k_major(pattern), false, true);
    wrong += run({"e4m3 32", e4m3_32, 32, element::e4m3, element::e4m3}, k_major(pattern),
                 k_major(128, 3), false, true);
    wrong += run({"s8 32", s8_32, 32, element::s8, element::s8, 1, 1, false, true},
                 k_major(pattern), k_major(pattern), false, true);
    wrong += run({"b1 32", b1_32, 32, element::b1, element::b1, 1, 1, false, true},
                 k_major(pattern), k_major(0), false, true);
  }
  const operand_layout k128 = k_major(128);
  for (const bool adds : {false, true}) {
    wrong += run({"bf16 8", bf16_8, 8, element::bf16, element::bf16}, k128, k128, false, adds);
    wrong += run({"bf16 24", bf16_24, 24, element::bf16, element::bf16}, k128, k128, false, adds);
    wrong +=
        run({"bf16 256", bf16_256, 256, element::bf16, element::bf16}, k128, k128, false, adds);
    wrong +=
        run({"-bf16", bf16_minus, 32, element::bf16, element::bf16, -1}, k128, k128, false, adds);
    wrong += run({"--bf16", bf16_plus, 32, element::bf16, element::bf16, -1, -1}, k128, k128, false,
                 adds);
    wrong += run({"bf16 rs", bf16_rs, 32, element::bf16, element::bf16}, {}, k128, true, adds);
    wrong += run({"f16 32", f16_32, 32, element::f16, element::f16}, k128, k128, false, adds);
    wrong += run({"f16 half", f16_16_half, 16, element::f16, element::f16, 1, 1, true}, k128, k128,
                 false, adds);
    wrong += run({"f16 half rs", f16_64_half, 64, element::f16, element::f16, 1, 1, true}, {}, k128,
                 true, adds);
    wrong += run({"tf32 rs", tf32_rs, 16, element::tf32, element::tf32}, {}, k128, true, adds);
    wrong +=
        run({"e5m2 e4m3", mixed_16, 16, element::e5m2, element::e4m3}, k128, k128, false, adds);
    wrong += run({"e5m2 half", e5m2_half, 32, element::e5m2, element::e5m2, 1, 1, true}, {}, k128,
                 true, adds);
    wrong += run({"u8 s8", mixed_24, 24, element::u8, element::s8, 1, 1, false, true}, k128, k128,
                 false, adds);
    wrong += run({"u8 rs", u8_rs, 16, element::u8, element::u8, 1, 1, false, true}, {}, k128, true,
                 adds);
    wrong += run({"s8 clamped", s8_clamped, 16, element::s8, element::s8, 1, 1, false, true}, k128,
                 k128, false, adds);
    wrong += run({"b1 rs", b1_rs, 16, element::b1, element::b1, 1, 1, false, true}, {}, k128, true,
                 adds);
  }
  std::printf("wgmma_shapes: %s\n", wrong == 0 ? "right" : "wrong");
  return wrong == 0 ? 0 : 1;
}
