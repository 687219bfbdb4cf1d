// Pointer chases: each load returns the address of the next load.
#include <numeric>
#include <random>

#include "common/gpus/measure/timing.cuh"

namespace stepwise::measure {
namespace {

enum class through { l1, l2 };

// Only the last pass is timed. If there are two, the first brings the lines into the cache.
template <through Cache>
__global__ void chase(void** start, int passes, int steps, void** end, long long* cycles) {
  for (int pass = 0; pass < passes; ++pass) {
    void** at = start;
    const long long begin = clock64();
    for (int i = 0; i < steps; ++i) {
      void* next;
      if constexpr (Cache == through::l1)
        asm volatile("ld.global.ca.u64 %0, [%1];" : "=l"(next) : "l"(at));
      else
        asm volatile("ld.global.cg.u64 %0, [%1];" : "=l"(next) : "l"(at));
      at = static_cast<void**>(next);
    }
    *end = at;
    *cycles = clock64() - begin;
  }
}

__global__ void chase_shared(int steps, unsigned* end, long long* cycles) {
  constexpr int words = 1024;
  __shared__ unsigned next[words];
  const unsigned base = static_cast<unsigned>(__cvta_generic_to_shared(next));
  for (int i = threadIdx.x; i < words; i += blockDim.x) next[i] = base + 4 * ((i + 33) % words);
  __syncthreads();
  unsigned at = base;
  const long long begin = clock64();
  for (int i = 0; i < steps; ++i) asm volatile("ld.shared.u32 %0, [%0];" : "+r"(at));
  *end = at;
  *cycles = clock64() - begin;
}

// A ring through all lines of `bytes`, in random order.
void make_ring(device_array<void*>& memory, std::size_t bytes, std::size_t line) {
  const std::size_t lines = bytes / line, words = line / sizeof(void*);
  std::vector<std::size_t> order(lines);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::mt19937_64 random(7);
  std::shuffle(order.begin(), order.end(), random);
  std::vector<void*> ring(lines * words, nullptr);
  for (std::size_t i = 0; i < lines; ++i)
    ring[order[i] * words] = memory.data() + order[(i + 1) % lines] * words;
  memory.upload(ring);
}

}  // namespace

void measure_latencies(const effort& e, std::vector<figure>& all) {
  device_array<long long> cycles(1);
  device_array<unsigned> end(1);
  const int steps = e.scaled(4096, 16);
  const auto per_step = [&] { return static_cast<double>(cycles.download()[0]) / steps; };
  const auto typical = [&](auto launch) {
    std::vector<double> samples;
    for (int i = 0; i < e.samples(); ++i) {
      launch();
      require(cudaDeviceSynchronize(), "a chase");
      samples.push_back(per_step());
    }
    return median(samples);
  };
  all.push_back({"shared_latency", "cycles",
                 typical([&] { chase_shared<<<1, 32>>>(steps, end.data(), cycles.data()); }),
                 "a pointer chase through 4 KiB of shared memory"});

  const std::size_t most = e.scaled(std::size_t{1} << 30, std::size_t{1} << 16);
  device_array<void*> memory(most / sizeof(void*));
  device_array<void*> last(1);
  const auto again = [&](auto kernel) {
    return typical([&] { kernel<<<1, 1>>>(memory.data(), 2, steps, last.data(), cycles.data()); });
  };
  make_ring(memory, 16384, 128);
  all.push_back({"l1_latency", "cycles", again(chase<through::l1>),
                 "a pointer chase through 16 KiB, line by line, the second time"});
  make_ring(memory, e.scaled(std::size_t{1} << 19, std::size_t{16384}), 128);
  all.push_back({"l2_latency", "cycles", again(chase<through::l2>),
                 "a pointer chase through 512 KiB, bypassing L1, line by line, the second time"});
  make_ring(memory, e.scaled(std::size_t{1} << 24, std::size_t{16384}), 4096);
  all.push_back(
      {"l2_spread_latency", "cycles", again(chase<through::l2>),
       "a pointer chase through 16 MiB, bypassing L1, one line per 4 KiB, the second time"});
  // No launch reads a line that an earlier launch has read: the ring is longer than all chases
  // together.
  make_ring(memory, most, e.scaled(std::size_t{1024}, std::size_t{128}));
  void** start = memory.data();
  const double dram = typical([&] {
    chase<through::l2><<<1, 1>>>(start, 1, steps, last.data(), cycles.data());
    start = static_cast<void**>(last.download()[0]);
  });
  all.push_back({"dram_latency", "cycles", dram,
                 "a pointer chase through 1 GiB, one line per KiB, each for the first time"});
}

}  // namespace stepwise::measure
