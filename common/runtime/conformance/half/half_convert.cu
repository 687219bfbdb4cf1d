// Conversions of every f16 and bf16: to float, to double and back, to integers; and of the floats
// at, below and above the middle between neighbours, in every rounding mode.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "common/emulator/tests/programs/program.hpp"
#include "common/runtime/conformance/halves.hpp"

using word = std::uint16_t;
constexpr int count = 65536;

__global__ void widen(const __half* h, const __nv_bfloat16* b, float* single, double* wide,
                      float* brain, word* again) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  single[i] = __half2float(h[i]);
  wide[i] = static_cast<double>(h[i]);
  brain[i] = __bfloat162float(b[i]);
  again[i] = __half_as_ushort(__double2half(wide[i]));
}

__global__ void narrow(const float* v, word* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = __half_as_ushort(__float2half_rn(v[i]));
  out[count + i] = __half_as_ushort(__float2half_rz(v[i]));
  out[2 * count + i] = __half_as_ushort(__float2half_rd(v[i]));
  out[3 * count + i] = __half_as_ushort(__float2half_ru(v[i]));
}

__global__ void integers(const __half* h, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = __half2int_rn(h[i]);
  out[count + i] = __half2int_rz(h[i]);
  out[2 * count + i] = __half2int_rd(h[i]);
  out[3 * count + i] = __half2int_ru(h[i]);
}

int main() {
  const half_format& f = f16_format;
  std::vector<word> bits(count);
  for (int i = 0; i < count; ++i) bits[i] = static_cast<word>(i);
  device_array<word> halves(bits), again(count), rounded(4 * count);
  device_array<float> single(count), brain(count);
  device_array<double> wide(count);
  device_array<int> whole(4 * count);
  const __half* h = reinterpret_cast<__half*>(halves.get());
  widen<<<count / 256, 256>>>(h, reinterpret_cast<__nv_bfloat16*>(halves.get()), single.get(),
                              wide.get(), brain.get(), again.get());
  integers<<<count / 256, 256>>>(h, whole.get());
  finish();
  const std::vector<float> s = single.values(), b = brain.values();
  const std::vector<double> d = wide.values();
  const std::vector<word> back = again.values();
  const std::vector<int> n = whole.values();
  std::vector<float> middles(count);
  for (int i = 0; i < count; ++i) {
    const double v = f.value(bits[i]), q = bf16_format.value(bits[i]);
    const bool nan = f.is_nan(bits[i]), brain_nan = bf16_format.is_nan(bits[i]);
    const auto same = [](double x, double y) {
      return x == y && std::signbit(x) == std::signbit(y);
    };
    const auto clamped = [](double x) {
      return x > 2147483647.0    ? 2147483647
             : x < -2147483648.0 ? -2147483647 - 1
                                 : static_cast<int>(x);
    };
    const bool right =
        (nan ? s[i] != s[i] && d[i] != d[i] && n[i] == 0
             : same(s[i], v) && same(d[i], v) && back[i] == bits[i] &&
                   n[i] == clamped(std::nearbyint(v)) && n[count + i] == clamped(std::trunc(v)) &&
                   n[2 * count + i] == clamped(std::floor(v)) &&
                   n[3 * count + i] == clamped(std::ceil(v))) &&
        (brain_nan ? b[i] != b[i] : same(b[i], q));
    if (!right) {
      std::printf("conversions of 0x%04x are wrong: %g, expected %g\n", bits[i], s[i], v);
      return 1;
    }
    // In turn the middle to the next number, and what is just below and above it.
    const double next = (bits[i] & 0x7fff) < f.infinity() - 1 ? f.value(bits[i] + 1) : v;
    const float middle = static_cast<float>(nan || std::isinf(v) ? v : v + (next - v) / 2);
    middles[i] = i % 3 == 0 ? middle : std::nextafter(middle, i % 3 == 1 ? 1e30f : -1e30f);
  }
  device_array<float> values(middles);
  narrow<<<count / 256, 256>>>(values.get(), rounded.get());
  finish();
  std::vector<word> expected(4 * count);
  for (int i = 0; i < count; ++i) {
    const double v = middles[i];
    const word nearest = f.nearest(v), sign = std::signbit(v) ? 0x8000 : 0;
    const word zero = std::isnan(v) ? 0x7fff : sign | f.below(std::fabs(v));
    const bool exact = std::isnan(v) || f.value(zero) == v;
    const word away = exact ? zero : zero + 1;
    expected[i] = nearest;
    expected[count + i] = zero;
    expected[2 * count + i] = sign ? away : zero;
    expected[3 * count + i] = sign ? zero : away;
  }
  return compare("conversions of halves", rounded.values(), expected);
}
