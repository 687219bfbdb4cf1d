// Comparisons of f16 and bf16, ordered and unordered, alone and in pairs; minimum and maximum.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "common/emulator/tests/programs/program.hpp"
#include "common/runtime/conformance/halves.hpp"

using word = std::uint16_t;

template <class Half, class Pair>
__global__ void relations(const Half* v, unsigned* masks, unsigned* pairs, Half* extremes, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n * n) return;
  const Half a = v[i / n], b = v[i % n];
  masks[i] = __heq(a, b) | __hne(a, b) << 1 | __hlt(a, b) << 2 | __hle(a, b) << 3 |
             __hgt(a, b) << 4 | __hge(a, b) << 5 | __hequ(a, b) << 6 | __hneu(a, b) << 7 |
             __hltu(a, b) << 8 | __hleu(a, b) << 9 | __hgtu(a, b) << 10 | __hgeu(a, b) << 11 |
             __hisnan(a) << 12 | (__hisinf(a) != 0) << 13;
  Pair p, q;
  p.x = a, p.y = b, q.x = b, q.y = b;
  pairs[i] = __hlt2_mask(p, q) & __hne2_mask(p, p) | __hgeu2_mask(p, q);
  extremes[i] = __hmin(a, b);
  extremes[n * n + i] = __hmax(a, b);
  extremes[2 * n * n + i] = __hmax_nan(a, b);
}

template <class Half, class Pair>
bool check_format(const half_format& f) {
  std::vector<word> v;
  for (int i = 0; i < 65536; i += 1499) v.push_back(static_cast<word>(i));
  for (const word b : {word{0}, word{1}, f.infinity(), word{0x7fff}}) {
    v.push_back(b);
    v.push_back(b | 0x8000);
  }
  const int n = static_cast<int>(v.size());
  device_array<word> values(v), extremes(3 * n * n);
  device_array<unsigned> masks(n * n), pairs(n * n);
  relations<Half, Pair><<<(n * n + 127) / 128, 128>>>(reinterpret_cast<Half*>(values.get()),
                                                      masks.get(), pairs.get(),
                                                      reinterpret_cast<Half*>(extremes.get()), n);
  finish();
  const auto m = masks.values(), p = pairs.values();
  const auto e = extremes.values();
  for (int i = 0; i < n * n; ++i) {
    const word x = v[i / n], y = v[i % n];
    const double a = f.value(x), b = f.value(y);
    const bool nan = a != a || b != b, eq = a == b, lt = a<b, gt = a> b;
    const unsigned mask = eq | (lt || gt) << 1 | lt << 2 | (lt || eq) << 3 | gt << 4 |
                          (gt || eq) << 5 | (eq || nan) << 6 | (!eq) << 7 | (lt || nan) << 8 |
                          (lt || eq || nan) << 9 | (gt || nan) << 10 | (gt || eq || nan) << 11 |
                          (a != a) << 12 | std::isinf(a) << 13;
    // A pair never differs from itself; >= or unordered in the lower half, always in the upper.
    const unsigned pair = 0xffff0000u | ((gt || eq || nan) ? 0xffffu : 0u);
    // -0 is below +0: equal numbers are ordered by their sign.
    const bool a_first = lt || (eq && std::signbit(a));
    const word nan_bits = 0x7fff;
    const word low = nan ? (a == a ? x : b == b ? y : nan_bits) : a_first ? x : y;
    const word high = nan ? low : a_first ? y : x;
    if (m[i] != mask || p[i] != pair || e[i] != low || e[n * n + i] != high ||
        e[2 * n * n + i] != (nan ? nan_bits : high)) {
      std::printf(
          "0x%04x and 0x%04x: mask %x, expected %x; pair %x, expected %x; min %04x max %04x\n", x,
          y, m[i], mask, p[i], pair, e[i], e[n * n + i]);
      return false;
    }
  }
  return true;
}

int main() {
  if (!check_format<__half, __half2>(f16_format)) return 1;
  if (!check_format<__nv_bfloat16, __nv_bfloat162>(bf16_format)) return 1;
  std::printf("comparisons of halves, all right\n");
  return 0;
}
