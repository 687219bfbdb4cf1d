// 128-bit integers on the device: sums and products with carries, shifts, division, comparison.
#include <cstdint>

#include "common/emulator/tests/programs/program.hpp"

namespace {

using wide = unsigned __int128;
using u64 = std::uint64_t;
constexpr int count = 1024, results = 9;

__host__ __device__ wide result(int k, wide a, wide b) {
  const __int128 s = static_cast<__int128>(a), t = static_cast<__int128>(b);
  switch (k) {
    case 0:
      return a + b;
    case 1:
      return a - b;
    case 2:
      return a * b;
    case 3:
      return a << static_cast<int>(b & 127);
    case 4:
      return static_cast<wide>(s >> static_cast<int>(b & 127));
    case 5:
      return a / (b >> 70 | 1);
    case 6:
      return static_cast<wide>(s % (t >> 40 | 1));
    case 7:
      return s < t;
    default:
      return a > b ? a - b : b - a;
  }
}

__global__ void apply(const u64* x, u64* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const wide a = static_cast<wide>(x[4 * i]) << 64 | x[4 * i + 1];
  const wide b = static_cast<wide>(x[4 * i + 2]) << 64 | x[4 * i + 3];
  for (int k = 0; k < results; ++k) {
    const wide r = result(k, a, b);
    out[2 * (i * results + k)] = static_cast<u64>(r >> 64);
    out[2 * (i * results + k) + 1] = static_cast<u64>(r);
  }
}

}  // namespace

int main() {
  std::vector<u64> x(4 * count), expected;
  u64 state = 7;
  for (u64& v : x) {
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    v = state % 5 == 0 ? ~u64{0} : state % 5 == 1 ? 0 : state ^ state >> 29;
  }
  for (int i = 0; i < count; ++i) {
    const wide a = static_cast<wide>(x[4 * i]) << 64 | x[4 * i + 1];
    const wide b = static_cast<wide>(x[4 * i + 2]) << 64 | x[4 * i + 3];
    for (int k = 0; k < results; ++k) {
      const wide r = result(k, a, b);
      expected.push_back(static_cast<u64>(r >> 64));
      expected.push_back(static_cast<u64>(r));
    }
  }
  device_array<u64> dx(x), out(expected.size());
  apply<<<count / 128, 128>>>(dx.get(), out.get());
  finish();
  return compare("128-bit integers", out.values(), expected);
}
