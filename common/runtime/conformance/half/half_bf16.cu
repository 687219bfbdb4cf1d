// bf16 arithmetic is rounded once, alone and in pairs: subnormal products, and ties that the
// smallest addend decides.
#include <cuda_bf16.h>

#include "common/emulator/tests/programs/program.hpp"
#include "common/runtime/conformance/halves.hpp"

using word = std::uint16_t;

__global__ void arithmetic(const __nv_bfloat16* a, const __nv_bfloat16* b, const __nv_bfloat16* c,
                           __nv_bfloat16* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = __hadd_rn(a[i], b[i]);
  out[n + i] = __hsub_rn(a[i], b[i]);
  out[2 * n + i] = __hmul_rn(a[i], b[i]);
  out[3 * n + i] = __hfma(a[i], b[i], c[i]);
  const __nv_bfloat162 both =
      __hfma2(__halves2bfloat162(a[i], b[i]), __halves2bfloat162(b[i], a[i]),
              __halves2bfloat162(c[i], c[n - 1 - i]));
  out[4 * n + i] = __low2bfloat16(both);
  out[5 * n + i] = __high2bfloat16(both);
}

int main() {
  const half_format& f = bf16_format;
  const half_operands x(f, 20000);
  const int n = static_cast<int>(x.a.size());
  device_array<word> a(x.a), b(x.b), c(x.c), out(6 * n);
  const auto half = [](const device_array<word>& d) {
    return reinterpret_cast<__nv_bfloat16*>(d.get());
  };
  arithmetic<<<(n + 127) / 128, 128>>>(half(a), half(b), half(c), half(out), n);
  finish();
  std::vector<word> expected(6 * n);
  for (int i = 0; i < n; ++i) {
    const double p = f.value(x.a[i]), q = f.value(x.b[i]);
    // The double of a sum of distant numbers may be rounded. The fused form is exact.
    expected[i] = f.fused(p, 1, q);
    expected[n + i] = f.fused(p, 1, -q);
    expected[2 * n + i] = f.nearest(p * q);
    expected[3 * n + i] = expected[4 * n + i] = f.fused(p, q, f.value(x.c[i]));
    expected[5 * n + i] = f.fused(p, q, f.value(x.c[n - 1 - i]));
  }
  return compare("bf16 arithmetic", out.values(), expected);
}
