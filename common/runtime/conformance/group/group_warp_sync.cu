// Warp-wide functions of partial warps: shuffles of all types, votes, matches, reductions, with the
// masks of arms that diverged.
#include "common/emulator/tests/programs/program.hpp"

__global__ void run(long long* wide, double* real, unsigned* bits, int* total) {
  const int i = threadIdx.x, lane = i % 32;
  wide[i] = __shfl_xor_sync(~0u, 1000000000000LL * i, 5) + __shfl_up_sync(~0u, 1LL * i, 3, 8);
  real[i] = __shfl_down_sync(~0u, 0.5 * i, 2, 16) + __shfl_sync(~0u, 1.0 * i, lane + 1, 4);
  const unsigned low = __ballot_sync(~0u, lane < 10);
  if (lane < 10) {
    bits[i] = __match_any_sync(low, i % 3) ^ __reduce_or_sync(low, 1u << lane);
    total[i] = __reduce_add_sync(low, i) + __reduce_min_sync(low, -i) + __any_sync(low, i == 4);
  } else {
    int same;
    bits[i] = __match_all_sync(~low, i / 64, &same);
    bits[i] += static_cast<unsigned>(same);
    total[i] = __reduce_max_sync(~low, i) - __all_sync(~low, lane > 9) + __popc(__activemask());
  }
}

int main() {
  const int n = 96;
  device_array<long long> wide(n);
  device_array<double> real(n);
  device_array<unsigned> bits(n);
  device_array<int> total(n);
  run<<<1, n>>>(wide.get(), real.get(), bits.get(), total.get());
  finish();
  std::vector<long long> want_wide(n);
  std::vector<double> want_real(n);
  std::vector<unsigned> want_bits(n);
  std::vector<int> want_total(n);
  for (int i = 0; i < n; ++i) {
    const int lane = i % 32, warp = i - lane;
    want_wide[i] = 1000000000000LL * (i ^ 5) + (lane % 8 >= 3 ? i - 3 : i);
    want_real[i] = 0.5 * (lane % 16 + 2 < 16 ? i + 2 : i) + (i / 4 * 4 + (lane + 1) % 4);
    if (lane < 10) {
      unsigned same = 0;
      for (int k = 0; k < 10; ++k)
        if ((warp + k) % 3 == i % 3) same |= 1u << k;
      want_bits[i] = same ^ 0x3ffu;
      want_total[i] = 10 * warp + 45 - (warp + 9) + (warp == 0);
    } else {
      want_bits[i] = ~0x3ffu + 1u;
      want_total[i] = warp + 31 - 1 + 22;
    }
  }
  return compare("64-bit shuffles", wide.values(), want_wide) +
                 compare("shuffles of doubles", real.values(), want_real) +
                 compare("match", bits.values(), want_bits) +
                 compare("reduce", total.values(), want_total)
             ? 1
             : 0;
}
