// Functions of halves over every f16, against double: within 2 units in the last place.
#include <cuda_fp16.h>

#include "common/emulator/tests/programs/program.hpp"
#include "common/runtime/conformance/halves.hpp"

using word = std::uint16_t;
constexpr int count = 65536, functions = 9;
const char* const names[functions] = {"hexp",   "hexp2", "hlog", "hlog2",       "hsqrt",
                                      "hrsqrt", "hrcp",  "hsin", "htanh_approx"};

__global__ void apply(__half* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const __half h = __ushort_as_half(static_cast<unsigned short>(i));
  const __half results[functions] = {hexp(h),   hexp2(h), hlog(h), hlog2(h),       hsqrt(h),
                                     hrsqrt(h), hrcp(h),  hsin(h), htanh_approx(h)};
  for (int f = 0; f < functions; ++f) out[f * count + i] = results[f];
}

double reference(int function, double x) {
  switch (function) {
    case 0:
      return std::exp(x);
    case 1:
      return std::exp2(x);
    case 2:
      return std::log(x);
    case 3:
      return std::log2(x);
    case 4:
      return std::sqrt(x);
    case 5:
      return 1 / std::sqrt(x);
    case 6:
      return 1 / x;
    case 7:
      return std::sin(x);
    default:
      return std::tanh(x);
  }
}

int main() {
  const half_format& f = f16_format;
  device_array<word> out(functions * count);
  apply<<<count / 256, 256>>>(reinterpret_cast<__half*>(out.get()));
  finish();
  const std::vector<word> found = out.values();
  for (int k = 0; k < functions; ++k) {
    for (int i = 0; i < count; ++i) {
      const double x = f.value(static_cast<word>(i)), want = reference(k, x);
      const word got = found[k * count + i], best = f.nearest(want);
      const bool nan = want != want;
      // tanh.approx promises 2^-10.987 and no more near zero.
      const bool near_zero = k == 8 && std::fabs(f.value(got) - want) < 0.0005;
      const int steps = std::abs((got & 0x7fff) - (best & 0x7fff));
      const bool same_side = ((got ^ best) & 0x8000) == 0 || (got & 0x7fff) + (best & 0x7fff) <= 2;
      if (nan ? f.is_nan(got) : near_zero || (steps <= 2 && same_side && !f.is_nan(got))) continue;
      std::printf("%s(%g) is %g, expected %g\n", names[k], x, f.value(got), want);
      return 1;
    }
  }
  std::printf("functions of halves, all right\n");
  return 0;
}
