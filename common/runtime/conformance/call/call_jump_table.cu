// A switch with many cases, and PTX's brx.idx itself; lanes of a warp take every way and meet
// again.
#include "common/emulator/tests/programs/program.hpp"

__host__ __device__ int choose(int which, int v) {
  switch (which) {
    case 0:
      return v + 1;
    case 1:
      return v * 3;
    case 2:
      return v ^ 0x55;
    case 3:
      return v << 2;
    case 4:
      return -v;
    case 5:
      return v % 7;
    case 6:
      return v * v;
    case 7:
      return v | 1;
    case 8:
      return v & 12;
    case 9:
      return 1000 - v;
    case 10:
      return v >> 1;
    case 11:
      return 42;
    default:
      return v;
  }
}

__global__ void run(int* chosen, int* jumped, unsigned* together) {
  const int i = threadIdx.x;
  chosen[i] = choose(i % 14, i);
  int result;
  asm volatile(
      "{\n .reg .u32 %%way;\n and.b32 %%way, %1, 3;\n"
      " ways: .branchtargets first, second, third, fourth;\n brx.idx %%way, ways;\n"
      " first: mov.u32 %0, 10; bra meet;\n second: mul.lo.u32 %0, %1, 2; bra meet;\n"
      " third: mov.u32 %0, 30; bra meet;\n fourth: add.u32 %0, %1, 400;\n meet:\n}"
      : "=r"(result)
      : "r"(i));
  __syncwarp();
  jumped[i] = result;
  together[i] = __ballot_sync(0xffffffff, true);
}

int main() {
  const int n = 64;
  device_array<int> chosen(n), jumped(n);
  device_array<unsigned> together(n);
  run<<<1, n>>>(chosen.get(), jumped.get(), together.get());
  finish();
  std::vector<int> want_chosen(n), want_jumped(n);
  for (int i = 0; i < n; ++i) {
    want_chosen[i] = choose(i % 14, i);
    const int ways[] = {10, 2 * i, 30, i + 400};
    want_jumped[i] = ways[i & 3];
  }
  return compare("switch", chosen.values(), want_chosen) +
                 compare("brx.idx", jumped.values(), want_jumped) +
                 compare("all meet", together.values(), std::vector<unsigned>(n, ~0u))
             ? 1
             : 0;
}
