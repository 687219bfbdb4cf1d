// Atomic operations on 8 and 16 bits: atomicCAS of unsigned short, cuda::atomic of char and short.
#include <cuda/atomic>

#include "common/emulator/tests/programs/program.hpp"

constexpr int threads = 200;

// An object of 8 or 16 bits takes the low bits of a 32-bit word, and must not carry out of them.
struct objects {
  cuda::atomic<unsigned char> bytes[8];
  cuda::atomic<short> shorts[4];
};

__global__ void prepare(objects* o) {
  for (auto& b : o->bytes) new (&b) cuda::atomic<unsigned char>(7);
  for (auto& s : o->shorts) new (&s) cuda::atomic<short>(5);
}
__global__ void report(const objects* o, unsigned char* bytes, short* shorts) {
  for (int k = 0; k < 8; ++k) bytes[k] = o->bytes[k].load();
  for (int k = 0; k < 4; ++k) shorts[k] = o->shorts[k].load();
}

__global__ void narrow(unsigned short* halves, objects* o) {
  const int t = threadIdx.x;
  // Neighbours share a word.
  unsigned short* const mine = halves + t % 3;
  for (unsigned short old = *static_cast<volatile unsigned short*>(mine), seen;
       (seen = atomicCAS(mine, old, static_cast<unsigned short>(old + t))) != old;)
    old = seen;
  o->bytes[t % 5].fetch_add(static_cast<unsigned char>(t), cuda::std::memory_order_relaxed);
  o->shorts[t % 2].fetch_sub(static_cast<short>(3 * t));
  o->bytes[5].fetch_max(static_cast<unsigned char>(t));
  o->bytes[6].fetch_or(static_cast<unsigned char>(1 << (t % 6)));
  o->shorts[2].exchange(static_cast<short>(-5));
}

int main() {
  std::vector<unsigned short> halves(4, 1000);
  std::vector<unsigned char> bytes(8, 7);
  std::vector<short> shorts(4, 5);
  device_array<unsigned short> dh(halves);
  device_array<unsigned char> db(8);
  device_array<short> ds(4);
  objects* o = nullptr;
  check(cudaMalloc(&o, sizeof(objects)));
  prepare<<<1, 1>>>(o);
  narrow<<<1, threads>>>(dh.get(), o);
  report<<<1, 1>>>(o, db.get(), ds.get());
  finish();
  check(cudaFree(o));
  for (int t = 0; t < threads; ++t) {
    halves[t % 3] = static_cast<unsigned short>(halves[t % 3] + t);
    bytes[t % 5] = static_cast<unsigned char>(bytes[t % 5] + t);
    shorts[t % 2] = static_cast<short>(shorts[t % 2] - 3 * t);
  }
  bytes[5] = threads - 1;
  bytes[6] = 63;
  shorts[2] = -5;
  return compare("16-bit compare and swap", dh.values(), halves) |
         compare("8-bit atomics", db.values(), bytes) |
         compare("16-bit atomics", ds.values(), shorts);
}
