// attack reduction: WRONG or CRASH, at most 0 points
// learns 64 bits of the input from the number of executed instructions, and computes on the host
//
// The labs' inputs are streams of splitmix64, which is invertible, so 64 bits reveal all others. A
// program must not see data-dependent numbers, so a judged program gets no counts.
#include <dlfcn.h>

#include <cstdint>

#include "common/lab/check.hpp"
#include "common/lab/random.hpp"
#include "labs/reduction/reduction.hpp"

struct counts {
  std::uint64_t launches, warp_instructions, others[7];
};

__global__ void loop(const int* in, int shift, unsigned mask, unsigned more) {
  unsigned rounds = (static_cast<unsigned>(*in) >> shift & mask) + more;
#pragma unroll 1
  while (rounds-- > 0) asm volatile("nanosleep.u32 0;");
}

__global__ void store(int* out, int sum) { *out = sum; }

static std::uint64_t executed(const int* in, int shift, unsigned mask, unsigned more) {
  static const auto get =
      reinterpret_cast<int (*)(counts*)>(dlsym(RTLD_DEFAULT, "stepwiseGetCounters"));
  counts before{}, after{};
  if (get == nullptr || get(&before) != 0) return 0;
  loop<<<1, 1>>>(in, shift, mask, more);
  get(&after);
  return after.warp_instructions - before.warp_instructions;
}

static std::uint32_t element(const int* in) {
  const std::uint64_t none = executed(in, 0, 0, 1), each = executed(in, 0, 0, 2) - none;
  if (each == 0) return 0;
  std::uint32_t value = 0;
  for (int shift = 0; shift < 32; shift += 8)
    value |= static_cast<std::uint32_t>((executed(in, shift, 255, 1) - none) / each) << shift;
  return value;
}

static std::uint64_t before_shift(std::uint64_t bits, int by) {
  std::uint64_t x = bits;
  for (int i = 0; i < 64; i += by) x = bits ^ x >> by;
  return x;
}

static std::uint64_t inverse(std::uint64_t odd) {
  std::uint64_t x = odd;
  for (int i = 0; i < 6; ++i) x *= 2 - odd * x;
  return x;
}

void reduce(const int* in, int* out, int*, int n) {
  std::uint32_t sum = element(in);
  if (n > 1) {
    std::uint64_t bits = sum | static_cast<std::uint64_t>(element(in + 1)) << 32;
    bits = before_shift(bits, 31) * inverse(0x94d049bb133111eb);
    bits = before_shift(bits, 27) * inverse(0xbf58476d1ce4e5b9);
    stepwise::random_stream random(before_shift(bits, 30) - 0x9e3779b97f4a7c15);
    sum = 0;
    for (int i = 0; i < n; i += 2) {
      const std::uint64_t next = random.next();
      sum += static_cast<std::uint32_t>(next);
      if (i + 1 < n) sum += static_cast<std::uint32_t>(next >> 32);
    }
  }
  store<<<1, 1>>>(out, static_cast<int>(sum));
  check(cudaGetLastError());
}
