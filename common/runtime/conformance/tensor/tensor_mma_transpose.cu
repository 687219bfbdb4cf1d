// Three ways to transpose 8 by 8 matrices of 16-bit elements: movmatrix, ldmatrix.trans and
// stmatrix.trans; and two arms of a branch that meet again at a warp-wide instruction.
#include "common/emulator/tests/programs/program.hpp"

using u16 = unsigned short;

__device__ unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

// x: four matrices; y: their transposes, three times.
__global__ void transpose(const unsigned* x, unsigned* y) {
  __shared__ alignas(16) unsigned tile[128], other[128];
  const int lane = threadIdx.x;
  for (int i = lane; i < 128; i += 32) tile[i] = x[i];
  __syncwarp();
  unsigned moved;
  if (lane % 3 == 0)  // the same element by another way
    moved = x[lane];
  else
    moved = tile[lane];
  asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %0;" : "+r"(moved));
  y[lane] = moved;
  unsigned r[4];
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(shared_address(tile + 4 * lane))
               : "memory");
  for (int q = 0; q < 4; ++q) y[128 + 32 * q + lane] = r[q];
  asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                   shared_address(other + 4 * lane)),
               "r"(tile[lane]), "r"(tile[32 + lane]), "r"(tile[64 + lane]), "r"(tile[96 + lane])
               : "memory");
  __syncwarp();
  for (int i = lane; i < 128; i += 32) y[256 + i] = other[i];
}

int main() {
  std::vector<u16> halves(256), expected(768);
  for (int i = 0; i < 256; ++i) halves[i] = static_cast<u16>(i * 263 + 11);
  for (int i = 0; i < 256; ++i) {
    const int q = i / 64, row = i / 8 % 8, col = i % 8;
    const u16 value = halves[64 * q + 8 * col + row];
    if (q == 0) expected[i] = value;
    expected[256 + i] = expected[512 + i] = value;
  }
  std::vector<unsigned> words(128);
  for (int i = 0; i < 128; ++i)
    words[i] = halves[2 * i] | static_cast<unsigned>(halves[2 * i + 1]) << 16;
  device_array<unsigned> dx(words), dy(384);
  transpose<<<1, 32>>>(dx.get(), dy.get());
  finish();
  std::vector<u16> found;
  for (const unsigned w : dy.values()) {
    found.push_back(static_cast<u16>(w));
    found.push_back(static_cast<u16>(w >> 16));
  }
  return compare("transposed matrices", found, expected);
}
