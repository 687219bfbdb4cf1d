// The cost of a launch, and the rate at which blocks start.
#include "common/gpus/measure/timing.cuh"

namespace stepwise::measure {
namespace {

__global__ void empty() {}

// A chain of dependent instructions without a loop, so each instruction has to be fetched.
template <int Sums>
__global__ void straight(float by, float* to) {
  float sum = by;
#pragma unroll
  for (int i = 0; i < Sums; ++i) asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(sum) : "f"(by));
  if (sum == 1.5f) *to = sum;
}

}  // namespace

void measure_launches(const effort& e, std::vector<figure>& all) {
  const double one = time_ms(e, [] { empty<<<1, 32>>>(); });
  all.push_back({"empty_launch", "us", 1e3 * one, "one empty block, timed between two events"});

  const int many = e.scaled(200, 4);
  const double row = time_ms(
      e,
      [&] {
        for (int i = 0; i < many; ++i) empty<<<1, 32>>>();
      },
      10'000'000);
  all.push_back({"launch_in_a_row", "us", 1e3 * row / many,
                 "time per kernel of empty kernels, one after the other in a stream"});

  device_array<float> sink(1);
  const auto straight_us = [&](auto kernel) {
    return 1e3 / many *
           time_ms(
               e,
               [&] {
                 for (int i = 0; i < many; ++i) kernel<<<1, 32>>>(0.5f, sink.data());
               },
               10'000'000);
  };
  constexpr int few_sums = 256, many_sums = 2048;
  const double longer = straight_us(straight<many_sums>) - straight_us(straight<few_sums>);
  all.push_back({"first_instruction", "ns", std::max(1e-3, 1e3 * longer / (many_sums - few_sums)),
                 "one warp; each instruction depends on the previous one and is executed for the "
                 "first time since the launch"});

  for (const int threads : {32, 256, 1024}) {
    const int blocks = e.scaled(1 << 20, 1 << 6);
    const double ms = time_ms(e, [&] { empty<<<blocks, threads>>>(); });
    all.push_back({"block_starts_of_" + std::to_string(threads), "blocks / us",
                   blocks / (1e3 * std::max(1e-6, ms - one)),
                   "a million empty blocks of " + std::to_string(threads) +
                       " threads, minus an empty launch"});
  }
}

}  // namespace stepwise::measure
