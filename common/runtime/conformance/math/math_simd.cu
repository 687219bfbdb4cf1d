// The SIMD intrinsics on bytes and halves of a word (__vadd4, __vabsdiffu2, __vcmpgts4 ...),
// against loops over their parts.
#include <algorithm>
#include <cstdint>

#include "common/emulator/tests/programs/program.hpp"

namespace {

using u32 = std::uint32_t;
constexpr int count = 1024, operations = 22;

#define OF_WIDTH(n)                                                                              \
  __vadd##n(a, b), __vsub##n(a, b), __vaddss##n(a, b), __vaddus##n(a, b), __vsubss##n(a, b),     \
      __vsubus##n(a, b), __vabsdiffs##n(a, b), __vabsdiffu##n(a, b), __vavgs##n(a, b),           \
      __vavgu##n(a, b), __vhaddu##n(a, b), __vmaxs##n(a, b), __vmaxu##n(a, b), __vmins##n(a, b), \
      __vminu##n(a, b), __vcmpgts##n(a, b), __vcmpleu##n(a, b), __vsetne##n(a, b), __vneg##n(a), \
      __vabsss##n(a), __vsads##n(a, b), __vsadu##n(a, b)

__global__ void apply(const u32* x, const u32* y, u32* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const u32 a = x[i], b = y[i];
  const u32 r[2 * operations] = {OF_WIDTH(2), OF_WIDTH(4)};
  for (int k = 0; k < 2 * operations; ++k) out[i * 2 * operations + k] = r[k];
}

// One part of operation k: p, q are its values as signed numbers, s, t as unsigned ones.
int part(int k, int p, int q, int s, int t, int bits) {
  const int most = (1 << (bits - 1)) - 1, ones = (1 << bits) - 1;
  switch (k) {
    case 0:
      return s + t;
    case 1:
      return s - t;
    case 2:
      return std::clamp(p + q, -most - 1, most);
    case 3:
      return std::min(s + t, ones);
    case 4:
      return std::clamp(p - q, -most - 1, most);
    case 5:
      return std::max(s - t, 0);
    case 6:
      return std::abs(p - q);
    case 7:
      return std::abs(s - t);
    case 8:
      return (p + q + (p + q >= 0 ? 1 : 0)) >> 1;  // halves are rounded away from zero
    case 9:
      return (s + t + 1) >> 1;
    case 10:
      return (s + t) >> 1;
    case 11:
      return std::max(p, q);
    case 12:
      return std::max(s, t);
    case 13:
      return std::min(p, q);
    case 14:
      return std::min(s, t);
    case 15:
      return p > q ? ones : 0;
    case 16:
      return s <= t ? ones : 0;
    case 17:
      return s != t;
    case 18:
      return -p;
    case 19:
      return std::min(std::abs(p), most);
    case 20:
      return std::abs(p - q);
    default:
      return std::abs(s - t);
  }
}

u32 expected(int k, u32 a, u32 b, int bits) {
  u32 packed = 0, sum = 0;
  const u32 ones = (1u << bits) - 1;
  for (int at = 0; at < 32; at += bits) {
    const int s = static_cast<int>(a >> at & ones), t = static_cast<int>(b >> at & ones);
    const auto sign = [&](int v) { return v >> (bits - 1) ? v - (1 << bits) : v; };
    const u32 r = static_cast<u32>(part(k, sign(s), sign(t), s, t, bits));
    packed |= (r & ones) << at;
    sum += r;
  }
  return k >= 20 ? sum : packed;
}

}  // namespace

int main() {
  std::vector<u32> x(count), y(count), all;
  const u32 special[] = {0,           0xffffffffu, 0x80008000u, 0x7fff7fffu,
                         0x80808080u, 0x7f7f7f7fu, 1,           0x01ff01ffu};
  u32 state = 3;
  const auto random = [&] {
    state = state * 1664525u + 1013904223u;
    return state ^ state >> 15;
  };
  for (int i = 0; i < count; ++i) {
    x[i] = i < 64 ? special[i % 8] : random();
    y[i] = i < 64 ? special[i / 8] : i % 4 ? random() : x[i] ^ 0x00010001u;
    for (int k = 0; k < 2 * operations; ++k)
      all.push_back(expected(k % operations, x[i], y[i], k < operations ? 16 : 8));
  }
  device_array<u32> dx(x), dy(y), out(all.size());
  apply<<<count / 128, 128>>>(dx.get(), dy.get(), out.get());
  finish();
  return compare("SIMD intrinsics", out.values(), all);
}
