// The last bits of mma.sync's sums: random values of bf16, f16, tf32 and fp8 with wide ranges of
// exponents, compared bit for bit with the model.
#include "common/emulator/tests/programs/program.hpp"
#include "tensor_model.hpp"

constexpr int m = 16, n = 8;

// D = A B + C. A and B are packed along k, `words` words per row of A or column of B.
#define MMA_KERNEL(name, shape, type, a_registers, b_registers, a_list, b_list)         \
  __global__ void name(const unsigned* a, const unsigned* b, const float* c, float* d,  \
                       int words) {                                                     \
    const int group = threadIdx.x / 4, lane = threadIdx.x % 4;                          \
    unsigned x[4] = {}, y[2] = {};                                                      \
    float z[4];                                                                         \
    for (int r = 0; r < a_registers; ++r)                                               \
      x[r] = a[(group + r % 2 * 8) * words + r / 2 * 4 + lane];                         \
    for (int r = 0; r < b_registers; ++r) y[r] = b[group * words + r * 4 + lane];       \
    for (int i = 0; i < 4; ++i) z[i] = c[(group + i / 2 * 8) * n + 2 * lane + i % 2];   \
    asm volatile("mma.sync.aligned." shape ".row.col.f32." type "." type                \
                 ".f32 {%0, %1, %2, %3}, {" a_list "}, {" b_list "}, {%0, %1, %2, %3};" \
                 : "+f"(z[0]), "+f"(z[1]), "+f"(z[2]), "+f"(z[3])                       \
                 : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));   \
    for (int i = 0; i < 4; ++i) d[(group + i / 2 * 8) * n + 2 * lane + i % 2] = z[i];   \
  }
MMA_KERNEL(mma_bf16, "m16n8k16", "bf16", 4, 2, "%4, %5, %6, %7", "%8, %9")
MMA_KERNEL(mma_f16, "m16n8k16", "f16", 4, 2, "%4, %5, %6, %7", "%8, %9")
MMA_KERNEL(mma_f16_short, "m16n8k8", "f16", 2, 1, "%4, %5", "%8")
MMA_KERNEL(mma_tf32, "m16n8k8", "tf32", 4, 2, "%4, %5, %6, %7", "%8, %9")
MMA_KERNEL(mma_e4m3, "m16n8k32", "e4m3", 4, 2, "%4, %5, %6, %7", "%8, %9")
MMA_KERNEL(mma_e5m2, "m16n8k32", "e5m2", 4, 2, "%4, %5, %6, %7", "%8, %9")

namespace {

// fp8: two sums of f16 products, of every second pair along k, and then an ordinary addition of c.
float expected_sum(const number_format& f, const std::vector<float>& a, const std::vector<float>& b,
                   float c) {
  if (f.bits != 8) return tensor_sum(a, b, c, f.fraction, 25, 23);
  float sum = 0;
  for (int part = 0; part < 2; ++part) {
    std::vector<float> x, y;
    for (int k = 0; k < f.k; ++k)
      if (k % 4 / 2 == part) x.push_back(a[k]), y.push_back(b[k]);
    sum = tensor_sum(x, y, sum, f.fraction, 25, 23);
  }
  return sum + c;
}

int run(const char* name,
        void (*kernel)(const unsigned*, const unsigned*, const float*, float*, int),
        const number_format& f) {
  random_values random(static_cast<unsigned>(f.k + f.bits));
  const int words = f.k * f.bits / 32, spread_of_type = f.bits == 8 ? 4 : f.bits == 16 ? 6 : 12;
  std::vector<float> found, expected;
  for (int tile = 0; tile < 40; ++tile) {
    const int spread = tile % 4 * spread_of_type / 3;
    std::vector<std::vector<float>> a(m), b(n);
    const auto fill = [&](std::vector<std::vector<float>>& lines) {
      std::vector<unsigned> packed(lines.size() * words);
      for (std::size_t line = 0; line < lines.size(); ++line)
        for (int k = 0; k < f.k; ++k) {
          const unsigned bits = f.encode(random.one(spread));
          lines[line].push_back(f.decode(bits));
          packed[line * words + k * f.bits / 32] |= bits << k * f.bits % 32;
        }
      return packed;
    };
    device_array<unsigned> packed_a(fill(a)), packed_b(fill(b));
    std::vector<float> c(m * n);
    for (float& x : c) x = tile % 5 == 0 ? 0 : random.one(2 * spread);
    device_array<float> d_c(c), d(m * n);
    kernel<<<1, 32>>>(packed_a.get(), packed_b.get(), d_c.get(), d.get(), words);
    finish();
    const std::vector<float> values = d.values();
    found.insert(found.end(), values.begin(), values.end());
    for (int i = 0; i < m * n; ++i) expected.push_back(expected_sum(f, a[i / n], b[i % n], c[i]));
  }
  return compare(name, found, expected);
}

}  // namespace

int main() {
  int wrong = 0;
  wrong |= run("bf16", mma_bf16, bf16_values(16));
  wrong |= run("f16", mma_f16, f16_values(16));
  wrong |= run("f16, k = 8", mma_f16_short, f16_values(8));
  wrong |= run("tf32", mma_tf32, tf32_values(8));
  wrong |= run("e4m3", mma_e4m3, e4m3_values(32));
  wrong |= run("e5m2", mma_e5m2, e5m2_values(32));
  return wrong;
}
