// Structures passed and returned by value, with every alignment from 1 to 16 bytes.
#include "common/emulator/tests/programs/program.hpp"

struct odd {
  char name[5];
  short tag;
};
struct alignas(16) wide {
  double x, y;
  float4 colour;
};

__host__ __device__ __noinline__ odd mark(odd o, char c, int at) {
  o.name[at % 5] = c;
  o.tag = static_cast<short>(o.tag + at);
  return o;
}

__host__ __device__ __noinline__ wide blend(odd o, wide w, long long k, bool swap) {
  wide r = w;
  if (swap) {
    r.x = w.y;
    r.y = w.x;
  }
  r.colour.z += static_cast<float>(o.tag + k);
  r.colour.w = static_cast<float>(o.name[2]);
  return r;
}

__host__ __device__ int digest(int i) {
  odd o = {{'a', 'b', 'c', 'd', 'e'}, static_cast<short>(3 * i)};
  wide w = {1.5 * i, -2.0, {1, 2, 3, 4}};
  o = mark(o, static_cast<char>('A' + i % 26), i);
  w = blend(o, w, i * 10LL, i % 2 == 0);
  return static_cast<int>(w.x * 8 + w.y * 4 + w.colour.z + w.colour.w) + o.name[i % 5] * 100;
}

__global__ void run(int* out) { out[threadIdx.x] = digest(threadIdx.x); }

int main() {
  const int n = 77;
  device_array<int> out(n);
  run<<<1, n>>>(out.get());
  finish();
  std::vector<int> want(n);
  for (int i = 0; i < n; ++i) want[i] = digest(i);
  return compare("structures by value", out.values(), want);
}
