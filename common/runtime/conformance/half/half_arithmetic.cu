// f16 arithmetic is rounded once: sums, products and fused products of thousands of operands,
// special values, subnormal results and ties among them.
#include <cuda_fp16.h>

#include "common/emulator/tests/programs/program.hpp"
#include "common/runtime/conformance/halves.hpp"

using word = std::uint16_t;

__global__ void arithmetic(const __half* a, const __half* b, const __half* c, __half* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = __hadd_rn(a[i], b[i]);
  out[n + i] = __hsub_rn(a[i], b[i]);
  out[2 * n + i] = __hmul_rn(a[i], b[i]);
  out[3 * n + i] = __hfma(a[i], b[i], c[i]);
  out[4 * n + i] = __hadd_sat(a[i], b[i]);
}

int main() {
  const half_format& f = f16_format;
  const half_operands x(f, 20000);
  const int n = static_cast<int>(x.a.size());
  device_array<word> a(x.a), b(x.b), c(x.c), out(5 * n);
  const auto half = [](const device_array<word>& d) { return reinterpret_cast<__half*>(d.get()); };
  arithmetic<<<(n + 127) / 128, 128>>>(half(a), half(b), half(c), half(out), n);
  finish();
  std::vector<word> expected(5 * n);
  for (int i = 0; i < n; ++i) {
    const double p = f.value(x.a[i]), q = f.value(x.b[i]), sum = p + q;
    expected[i] = f.nearest(sum);
    expected[n + i] = f.nearest(p - q);
    expected[2 * n + i] = f.nearest(p * q);
    expected[3 * n + i] = f.fused(p, q, f.value(x.c[i]));
    expected[4 * n + i] = f.nearest(sum > 0 ? (sum < 1 ? sum : 1) : 0);
  }
  return compare("f16 arithmetic", out.values(), expected);
}
