// What a launch costs, and how fast blocks start.
#include "common/gpus/measure/timing.cuh"

namespace stepwise::measure {
namespace {

__global__ void empty() {}

}  // namespace

void measure_launches(const effort& e, std::vector<figure>& all) {
  const double one = time_ms(e, [] { empty<<<1, 32>>>(); });
  all.push_back({"empty_launch", "us", 1e3 * one, "one empty block between two events"});

  const int many = e.scaled(200, 4);
  const double row = time_ms(
      e,
      [&] {
        for (int i = 0; i < many; ++i) empty<<<1, 32>>>();
      },
      10'000'000);
  all.push_back({"launch_in_a_row", "us", 1e3 * row / many,
                 "empty kernels one after the other in a stream, each"});

  for (const int threads : {32, 256, 1024}) {
    const int blocks = e.scaled(1 << 20, 1 << 6);
    const double ms = time_ms(e, [&] { empty<<<blocks, threads>>>(); });
    all.push_back({"block_starts_of_" + std::to_string(threads), "blocks / us",
                   blocks / (1e3 * std::max(1e-6, ms - one)),
                   "a million empty blocks of " + std::to_string(threads) +
                       " threads, less an empty launch"});
  }
}

}  // namespace stepwise::measure
