// 8-bit floats: every e4m3 and e5m2 as f16, and every f16 and many floats rounded to them.
#include <cuda_fp8.h>

#include "common/emulator/tests/programs/program.hpp"
#include "common/runtime/conformance/halves.hpp"

constexpr int count = 65536;

__global__ void convert(std::uint16_t* wide, unsigned char* from_half, unsigned char* from_float) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  __half_raw h;
  h.x = static_cast<unsigned short>(i);
  const float v = __half2float(__half(h)) * 1.0009765625f;
  for (int k = 0; k < 2; ++k) {
    const auto kind = static_cast<__nv_fp8_interpretation_t>(k);
    if (i < 256)
      wide[256 * kind + i] = __nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(i), kind).x;
    from_half[count * kind + i] = __nv_cvt_halfraw_to_fp8(h, __NV_SATFINITE, kind);
    from_float[count * kind + i] = __nv_cvt_float_to_fp8(v, __NV_SATFINITE, kind);
  }
}

// e4m3 has no infinity: all ones is NaN, and the numbers reach 448.
double value(unsigned char bits, int mantissa_bits) {
  const int bias = mantissa_bits == 3 ? 7 : 15, magnitude = bits & 0x7f;
  const int field = magnitude >> mantissa_bits, fraction = magnitude & ((1 << mantissa_bits) - 1);
  double v = field == 0 ? std::ldexp(fraction, 1 - bias - mantissa_bits)
                        : std::ldexp(fraction + (1 << mantissa_bits), field - bias - mantissa_bits);
  if (mantissa_bits == 3 ? magnitude == 0x7f : magnitude > 0x7c) v = NAN;
  if (mantissa_bits == 2 && magnitude == 0x7c) v = HUGE_VAL;
  return bits & 0x80 ? -v : v;
}

unsigned char nearest(double v, int mantissa_bits) {
  const unsigned char sign = std::signbit(v) ? 0x80 : 0, last = mantissa_bits == 3 ? 0x7e : 0x7b;
  if (v != v) return 0x7f;
  unsigned char best = 0;
  for (unsigned char b = 0; b <= last; ++b) {
    const double d = std::fabs(std::fabs(v) - value(b, mantissa_bits));
    const double least = std::fabs(std::fabs(v) - value(best, mantissa_bits));
    if (d < least || (d == least && (b & 1) == 0)) best = b;
  }
  return sign | (std::isinf(v) ? last : best);
}

int main() {
  device_array<std::uint16_t> wide(512);
  device_array<unsigned char> from_half(2 * count), from_float(2 * count);
  convert<<<count / 256, 256>>>(wide.get(), from_half.get(), from_float.get());
  finish();
  const auto w = wide.values();
  const auto h = from_half.values(), s = from_float.values();
  for (int kind = 0; kind < 2; ++kind) {
    const int mantissa_bits = kind == __NV_E4M3 ? 3 : 2;
    for (int i = 0; i < 256; ++i) {
      const double want = value(static_cast<unsigned char>(i), mantissa_bits);
      const double found = f16_format.value(w[256 * kind + i]);
      if (want == want ? found != want || std::signbit(found) != std::signbit(want)
                       : found == found) {
        std::printf("kind %d: 0x%02x is %g, expected %g\n", kind, i, found, want);
        return 1;
      }
    }
    for (int i = 0; i < count; i += 7) {
      const double v = f16_format.value(static_cast<std::uint16_t>(i));
      const float scaled = static_cast<float>(v) * 1.0009765625f;
      const int at = count * kind + i;
      if (h[at] != nearest(v, mantissa_bits) || s[at] != nearest(scaled, mantissa_bits)) {
        std::printf("kind %d: %g is 0x%02x, expected 0x%02x; %g is 0x%02x, expected 0x%02x\n", kind,
                    v, h[at], nearest(v, mantissa_bits), scaled, s[at],
                    nearest(scaled, mantissa_bits));
        return 1;
      }
    }
  }
  std::printf("8-bit floats, all right\n");
  return 0;
}
