// The last bits of wgmma's sums: random values with wide ranges of exponents, compared bit for bit
// with the model. Sums of fp8 keep fewer bits than those of other types.
#include "tensor_model.hpp"
#include "wgmma_product.hpp"

constexpr int n = 8;

WGMMA_KERNEL(wgmma_bf16, "m64n8k16.f32.bf16.bf16", 4, "f32", "%2", ", 1, 1, 0, 0")
WGMMA_KERNEL(wgmma_f16, "m64n8k16.f32.f16.f16", 4, "f32", "%2", ", 1, 1, 0, 0")
WGMMA_KERNEL(wgmma_tf32, "m64n8k8.f32.tf32.tf32", 4, "f32", "%2", ", 1, 1")
WGMMA_KERNEL(wgmma_e4m3, "m64n8k32.f32.e4m3.e4m3", 4, "f32", "%2", ", 1, 1")
WGMMA_KERNEL(wgmma_e5m2, "m64n8k32.f32.e5m2.e5m2", 4, "f32", "%2", ", 1, 1")

namespace {

// The place of register i of a thread in D: row * n + column.
int place_of(int thread, int i) {
  return (thread / 32 * 16 + thread % 32 / 4 + 8 * (i / 2)) * n + thread % 4 * 2 + i % 2;
}

int run(const char* name, void (*kernel)(product_arguments), const number_format& f) {
  constexpr int image_bytes = 32 * 1024, b_offset = 16 * 1024, registers = 4;
  const operand_layout layout = k_major(128);
  const int spread_of_type = f.bits == 8 ? 4 : f.bits == 16 ? 6 : 12;
  random_values random(static_cast<unsigned>(f.k + f.bits));
  std::vector<float> found, expected;
  check(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                             cudaFuncAttributeMaxDynamicSharedMemorySize, image_bytes));
  for (int tile = 0; tile < 16; ++tile) {
    const int spread = tile % 4 * spread_of_type / 3;
    std::vector<std::uint8_t> image(image_bytes);
    std::vector<std::vector<float>> a(rows), b(n);
    const auto fill = [&](std::vector<std::vector<float>>& lines, int start) {
      for (std::size_t line = 0; line < lines.size(); ++line)
        for (int k = 0; k < f.k; ++k) {
          const unsigned bits = f.encode(random.one(spread));
          lines[line].push_back(f.decode(bits));
          std::memcpy(&image[start + layout.offset(static_cast<int>(line), k, f.bits / 8)], &bits,
                      f.bits / 8);
        }
    };
    fill(a, 0);
    fill(b, b_offset);
    std::vector<std::uint32_t> before(registers * warpgroup_threads), unused(before.size());
    std::vector<float> c(rows * n);
    for (float& x : c) x = tile % 5 == 0 ? 0 : random.one(2 * spread);
    for (int i = 0; i < rows * n; ++i)
      before[i] = bits_of(c[place_of(i / registers, i % registers)]);
    device_array<std::uint8_t> d_image(image);
    device_array<std::uint32_t> d_unused(unused), d_before(before), d_after(before.size());
    kernel<<<1, warpgroup_threads, image_bytes>>>(
        {d_image.get(), image_bytes, b_offset, layout.descriptor(), layout.descriptor(),
         d_unused.get(), d_before.get(), d_after.get(), 1});
    finish();
    const std::vector<std::uint32_t> after = d_after.values();
    for (int i = 0; i < rows * n; ++i) {
      const int place = place_of(i / registers, i % registers);
      const bool is_fp8 = f.bits == 8;
      found.push_back(float_of(after[i]));
      expected.push_back(tensor_sum(a[place / n], b[place % n], c[place], f.fraction,
                                    is_fp8 ? 13 : 25, is_fp8 ? 13 : 23));
    }
  }
  return compare(name, found, expected);
}

}  // namespace

int main() {
  int wrong = 0;
  wrong |= run("bf16", wgmma_bf16, bf16_values(16));
  wrong |= run("f16", wgmma_f16, f16_values(16));
  wrong |= run("tf32", wgmma_tf32, tf32_values(8));
  wrong |= run("e4m3", wgmma_e4m3, e4m3_values(32));
  wrong |= run("e5m2", wgmma_e5m2, e5m2_values(32));
  return wrong;
}
