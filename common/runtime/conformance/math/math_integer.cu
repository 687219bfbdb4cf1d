// Integer intrinsics: counting, reversing, high products, averages, byte permutation, funnel
// shifts, dot products - against plain loops.
#include <cstdint>

#include "common/emulator/tests/programs/program.hpp"

namespace {

using u32 = std::uint32_t;
using s32 = std::int32_t;
using u64 = std::uint64_t;
using s64 = std::int64_t;
constexpr int count = 2048, results = 27;

__global__ void apply(const u32* a, const u32* b, const u32* c, u64* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const u32 x = a[i], y = b[i], z = c[i];
  const u64 w = static_cast<u64>(y) << 32 | x, v = static_cast<u64>(x) << 32 | z;
  const u64 r[results] = {__brev(x),
                          u64(__clz(x)),
                          u64(__ffs(x)),
                          u64(__popc(x)),
                          __brevll(w),
                          u64(__clzll(w)),
                          u64(__ffsll(w)),
                          u64(__popcll(w)),
                          u32(__mulhi(s32(x), s32(y))),
                          __umulhi(x, y),
                          u64(__mul64hi(s64(w), s64(v))),
                          __umul64hi(w, v),
                          u32(__mul24(s32(x), s32(y))),
                          __umul24(x, y),
                          u32(__sad(s32(x), s32(y), z)),
                          __usad(x, y, z),
                          u32(__hadd(s32(x), s32(y))),
                          u32(__rhadd(s32(x), s32(y))),
                          __uhadd(x, y),
                          __urhadd(x, y),
                          __byte_perm(x, y, z),
                          __funnelshift_l(x, y, z),
                          __funnelshift_r(x, y, z),
                          __funnelshift_lc(x, y, z % 64),
                          __funnelshift_rc(x, y, z % 64),
                          __dp4a(x, y, z),
                          __dp2a_hi(x, y, z)};
  for (int k = 0; k < results; ++k) out[i * results + k] = r[k];
}

int count_bits(u64 v) { return v == 0 ? 0 : static_cast<int>(v & 1) + count_bits(v >> 1); }
int leading(u64 v, int bits) { return bits == 0 || v >> (bits - 1) ? 0 : 1 + leading(v, bits - 1); }
int first(u64 v) {
  for (int n = 0; n < 64; ++n)
    if (v >> n & 1) return n + 1;
  return 0;
}
u64 reversed(u64 v, int bits) {
  u64 r = 0;
  for (int n = 0; n < bits; ++n) r |= (v >> n & 1) << (bits - 1 - n);
  return r;
}
u32 permuted(u32 x, u32 y, u32 selector) {
  u32 r = 0;
  for (int n = 0; n < 4; ++n) {
    const u32 s = selector >> (4 * n) & 7;
    r |= ((s < 4 ? x >> (8 * s) : y >> (8 * (s - 4))) & 0xff) << (8 * n);
  }
  return r;
}
s32 low24(u32 v) { return static_cast<s32>(v << 8) >> 8; }

std::vector<u64> expected(u32 x, u32 y, u32 z) {
  const u64 w = static_cast<u64>(y) << 32 | x, v = static_cast<u64>(x) << 32 | z;
  const s64 p = s32(x), q = s32(y);
  u32 bytes = z, halves = z;
  for (int n = 0; n < 4; ++n) bytes += (x >> (8 * n) & 0xff) * (y >> (8 * n) & 0xff);
  for (int n = 0; n < 2; ++n) halves += (x >> (16 * n) & 0xffff) * (y >> (8 * (n + 2)) & 0xff);
  const u32 shift = z & 31, clamped = z % 64 > 32 ? 32 : z % 64;
  return {reversed(x, 32),
          u64(leading(x, 32)),
          u64(first(x)),
          u64(count_bits(x)),
          reversed(w, 64),
          u64(leading(w, 64)),
          u64(first(w)),
          u64(count_bits(w)),
          u32(u64(p * q) >> 32),
          u64(x) * y >> 32,
          u64(static_cast<__int128>(s64(w)) * s64(v) >> 64),
          u64(static_cast<unsigned __int128>(w) * v >> 64),
          u32(low24(x)) * u32(low24(y)),
          (x & 0xffffff) * (y & 0xffffff) & 0xffffffffu,
          u32((p > q ? p - q : q - p) + z),
          u32((x > y ? x - y : y - x) + z),
          u32((p + q) >> 1),
          u32((p + q + 1) >> 1),
          (u64(x) + y) >> 1,
          (u64(x) + y + 1) >> 1,
          permuted(x, y, z & 0x7777),
          u32(w << shift >> 32),
          u32(w >> shift),
          clamped == 32 ? x : u32(w << clamped >> 32),
          clamped == 32 ? y : u32(w >> clamped),
          bytes,
          halves};
}

}  // namespace

int main() {
  std::vector<u32> a(count), b(count), c(count);
  const u32 special[] = {0,           1,           0xffffffffu, 0x80000000u,
                         0x7fffffffu, 0x12345678u, 0x80,        0xff00ff00u};
  u32 state = 1;
  const auto random = [&] {
    state = state * 1664525u + 1013904223u;
    return state ^ state >> 15;
  };
  for (int i = 0; i < count; ++i) {
    a[i] = i < 64 ? special[i % 8] : random();
    b[i] = i < 64 ? special[i / 8] : random();
    c[i] = random() & 0x77777777u;
  }
  device_array<u32> da(a), db(b), dc(c);
  device_array<u64> out(count * results);
  apply<<<count / 128, 128>>>(da.get(), db.get(), dc.get(), out.get());
  finish();
  std::vector<u64> all;
  for (int i = 0; i < count; ++i)
    for (const u64 r : expected(a[i], b[i], c[i])) all.push_back(r);
  return compare("integer intrinsics", out.values(), all);
}
