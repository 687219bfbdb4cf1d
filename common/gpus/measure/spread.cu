// The spread of the latencies of loads from memory, for one warp and for many warps.
#include <algorithm>

#include "common/gpus/measure/timing.cuh"

namespace stepwise::measure {
namespace {

constexpr int bins = 1024, bin_cycles = 8;

// Loads a word, bypassing L1. `volatile` keeps the load after the clock is first read.
__device__ unsigned load(const unsigned* at) {
  unsigned v;
  asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(at));
  return v;
}
__device__ unsigned load(const uint4* at) {
  uint4 v;
  asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(at));
  return v.x;
}

// Each warp has one load in flight, because the next address needs the value, which is 0. The
// warps of the grid read adjacent words.
template <class Word>
__global__ void time_loads(const Word* from, std::size_t count, int loads, unsigned* times) {
  __shared__ unsigned seen[bins];
  for (unsigned i = threadIdx.x; i < bins; i += blockDim.x) seen[i] = 0;
  __syncthreads();
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  std::size_t at = (std::size_t{blockIdx.x} * blockDim.x + threadIdx.x) % count;
  for (int i = 0; i < loads; ++i) {
    const long long begin = clock64();
    const unsigned value = load(from + at);
    long long end;
    // The branch needs the value, so the clock is read after the load is complete.
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %1, 0; @p trap; mov.u64 %0, %%clock64; }"
                 : "=l"(end)
                 : "r"(value));
    at = (at + step + value) % count;
    const int bin = static_cast<int>(end - begin) / bin_cycles;
    if (threadIdx.x % 32 == 0) atomicAdd(seen + min(bin, bins - 1), 1u);
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < bins; i += blockDim.x)
    if (seen[i] != 0) atomicAdd(times + i, seen[i]);
}

double quantile(const std::vector<unsigned>& times, double share) {
  double all = 0, sum = 0;
  for (const unsigned n : times) all += n;
  for (int b = 0; b < bins; ++b) {
    sum += times[static_cast<std::size_t>(b)];
    if (sum >= share * all) return (b + 0.5) * bin_cycles;
  }
  return bins * bin_cycles;
}

}  // namespace

void measure_spread(int multiprocessors, const effort& e, std::vector<figure>& all) {
  const std::size_t bytes = e.scaled(std::size_t{1} << 32, std::size_t{1} << 20);
  device_array<unsigned> memory(bytes / 4), times(bins);
  const auto add = [&](const std::string& name, const std::string& what, auto launch) {
    require(cudaMemset(times.data(), 0, bins * sizeof(unsigned)), "cudaMemset");
    launch();
    require(cudaDeviceSynchronize(), "timed loads");
    const std::vector<unsigned> counts = times.download();
    for (const int share : {10, 50, 90})
      all.push_back({"dram_load_" + name + "_p" + std::to_string(share), "cycles",
                     quantile(counts, share / 100.0),
                     std::to_string(share) + " % of loads " + what + " take at most this time"});
  };
  const int loads = e.scaled(2000, 2), blocks = multiprocessors * e.scaled(4, 1);
  add("alone", "of 128 bytes by one warp of the GPU",
      [&] { time_loads<<<1, 32>>>(memory.data(), memory.size(), loads, times.data()); });
  const auto words = reinterpret_cast<const uint4*>(memory.data());
  for (const int warps : {4, 8, 16}) {
    const std::string name = std::to_string(4 * warps);
    add("of_" + name + "_warps", "of 128 bytes by " + name + " warps of each multiprocessor", [&] {
      time_loads<<<blocks, 32 * warps>>>(memory.data(), memory.size(), loads, times.data());
    });
  }
  add("wide_of_64_warps", "of 512 bytes by 64 warps of each multiprocessor",
      [&] { time_loads<<<blocks, 512>>>(words, bytes / 16, loads, times.data()); });
}

}  // namespace stepwise::measure
