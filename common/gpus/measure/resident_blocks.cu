// Resident blocks: which multiprocessor each block runs on, and how much bandwidth is lost if every
// block copies an equal part.
#include <algorithm>
#include <numeric>

#include "common/gpus/measure/timing.cuh"

namespace stepwise::measure {
namespace {

constexpr int copied_at_once = 4;

// Each block copies pieces that are a grid apart. `count` is a multiple of a piece.
__global__ void copy_pieces(const unsigned* from, unsigned* to, std::size_t count) {
  const std::size_t piece = std::size_t{copied_at_once} * blockDim.x;
  for (std::size_t i = blockIdx.x * piece + threadIdx.x; i < count; i += gridDim.x * piece) {
    unsigned v[copied_at_once];
#pragma unroll
    for (int k = 0; k < copied_at_once; ++k) v[k] = from[i + k * blockDim.x];
#pragma unroll
    for (int k = 0; k < copied_at_once; ++k) to[i + k * blockDim.x] = v[k];
  }
}

// Notes the multiprocessor of each block. Runs for `cycles`, so that no block ends before the last
// one has started.
__global__ void note_multiprocessor(unsigned* of_block, long long cycles) {
  unsigned here;
  asm("mov.u32 %0, %%smid;" : "=r"(here));
  if (threadIdx.x == 0) of_block[blockIdx.x] = here;
  const long long begin = clock64();
  while (clock64() - begin < cycles) continue;
}

}  // namespace

void measure_resident_blocks(int multiprocessors, const effort& e, std::vector<figure>& all) {
  const std::size_t bytes = e.scaled(std::size_t{1} << 30, std::size_t{1} << 20);
  const std::size_t count = bytes / sizeof(unsigned);
  constexpr int threads = 256, resident = 8;
  device_array<unsigned> from(count), to(count);
  const auto copied = [&](std::size_t blocks) {
    const double ms = time_ms(e, [&] {
      copy_pieces<<<static_cast<unsigned>(blocks), threads>>>(from.data(), to.data(), count);
    });
    return 2 * static_cast<double>(bytes) / (1e6 * ms);
  };
  all.push_back(
      {"dram_copy_in_pieces", "GB/s", copied(count / (copied_at_once * threads)),
       "1 GiB copied, read and written, in words of 4 bytes, by one block per piece of 4 KiB"});
  all.push_back({"dram_copy_in_equal_shares", "GB/s",
                 copied(static_cast<std::size_t>(multiprocessors) * resident),
                 "1 GiB copied, read and written, in words of 4 bytes, by 8 blocks of 256 threads "
                 "per multiprocessor"});

  const std::size_t blocks = static_cast<std::size_t>(multiprocessors) * resident;
  device_array<unsigned> places(blocks);
  note_multiprocessor<<<static_cast<unsigned>(blocks), threads>>>(places.data(),
                                                                  e.scaled(1'000'000, 1'000));
  require(cudaDeviceSynchronize(), "note_multiprocessor");
  const std::vector<unsigned> of_block = places.download();
  std::vector<std::vector<std::size_t>> on(1 + *std::max_element(of_block.begin(), of_block.end()));
  for (std::size_t b = 0; b < blocks; ++b) on[of_block[b]].push_back(b);
  std::erase_if(on, [](const auto& there) { return there.size() != resident; });
  require(on.empty() ? cudaErrorUnknown : cudaSuccess, "blocks on one multiprocessor");
  const auto& early = *std::min_element(on.begin(), on.end(), [](const auto& a, const auto& b) {
    return std::accumulate(a.begin(), a.end(), std::size_t{0}) <
           std::accumulate(b.begin(), b.end(), std::size_t{0});
  });
  for (int n = 0; n < resident; ++n)
    all.push_back({"early_multiprocessor_block_" + std::to_string(n), "",
                   static_cast<double>(early[static_cast<std::size_t>(n)]),
                   "the index of a block on the multiprocessor that receives its blocks first, "
                   "with 8 blocks per multiprocessor"});
}

}  // namespace stepwise::measure
