// Rates of DRAM, L2, L1 and shared memory, and of DRAM when little is in flight.
#include "common/gpus/measure/timing.cuh"

namespace stepwise::measure {
namespace {

// Each block reads pieces that are a grid apart. A piece has eight words of 16 bytes per thread,
// which are in flight at once. `count` is a multiple of a piece.
__global__ void read_all(const uint4* from, std::size_t count, int passes, unsigned* to) {
  unsigned sum = 0;
  const std::size_t piece = std::size_t{at_once} * blockDim.x;
  for (int p = 0; p < passes; ++p)
    for (std::size_t i = blockIdx.x * piece + threadIdx.x; i < count; i += gridDim.x * piece) {
      uint4 v[at_once];
#pragma unroll
      for (int k = 0; k < at_once; ++k) v[k] = __ldcg(from + i + k * blockDim.x);  // bypasses L1
#pragma unroll
      for (int k = 0; k < at_once; ++k) sum += folded(v[k]);
    }
  if (sum == 0x12345678u) *to = sum;
}

// Each thread's loads are a grid apart, so the loads in flight are adjacent in memory.
__global__ void read_grid_stride(const uint4* from, std::size_t count, unsigned* to) {
  unsigned sum = 0;
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  for (; i + 3 * step < count; i += 4 * step) {
    uint4 v[4];
#pragma unroll
    for (int k = 0; k < 4; ++k) v[k] = __ldcs(from + i + k * step);
#pragma unroll
    for (int k = 0; k < 4; ++k) sum += folded(v[k]);
  }
  for (; i < count; i += step) sum += folded(__ldcs(from + i));
  if (sum == 0x12345678u) *to = sum;
}

__global__ void write_all(uint4* to, std::size_t count) {
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step)
    to[i] = make_uint4(1, 2, 3, 4);
}

// One load of 16 bytes per thread is in flight at a time: the next address needs the value, which
// is 0.
__global__ void read_dependent(const uint4* from, std::size_t count, int loads, unsigned* to) {
  const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
  std::size_t at = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  unsigned sum = 0;
  for (int i = 0; i < loads; ++i) {
    const uint4 v = __ldcg(from + at);
    sum += v.x;
    at += step + v.y;
    if (at >= count) at -= count;
  }
  if (sum == 0x12345678u) *to = sum;
}

// Loads 16 bytes. The compiler does not remove a volatile load.
__device__ unsigned load_shared(unsigned at) {
  uint4 v;
  asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "r"(at));
  return v.x;
}

__device__ unsigned load_l1(const uint4* at) {  // block scope: L1 may serve the load
  uint4 v;
  asm volatile("ld.relaxed.cta.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "l"(at));
  return v.x;
}

// A block of 1024 threads reads the same 16 KiB repeatedly. `passes` is a multiple of eight.
__global__ void read_l1(const uint4* from, int passes, unsigned* to, span* spans) {
  unsigned sum = load_l1(from + threadIdx.x);
  __syncthreads();
  const long long begin = clock64();
  for (int p = 0; p < passes; p += at_once) {
#pragma unroll
    for (int k = 0; k < at_once; ++k) sum += load_l1(from + (threadIdx.x ^ (32 * k)));
  }
  __syncthreads();
  note_span(spans, begin);
  if (sum == 0x12345678u) *to = sum;
}

__global__ void read_shared(int passes, unsigned* to, span* spans) {
  __shared__ uint4 tile[1024];
  tile[threadIdx.x] = make_uint4(threadIdx.x, 0, 0, 0);
  __syncthreads();
  const unsigned base = static_cast<unsigned>(__cvta_generic_to_shared(tile));
  unsigned sum = 0;
  const long long begin = clock64();
  for (int p = 0; p < passes; p += at_once) {
#pragma unroll
    for (int k = 0; k < at_once; ++k) sum += load_shared(base + 16 * (threadIdx.x ^ (32 * k)));
  }
  __syncthreads();
  note_span(spans, begin);
  if (sum == 0x12345678u) *to = sum;
}

}  // namespace

void measure_memory(int multiprocessors, const effort& e, std::vector<figure>& all) {
  const std::size_t count = e.scaled(std::size_t{1} << 28, std::size_t{1} << 19);  // 4 GiB
  const double bytes = 16.0 * static_cast<double>(count);
  device_array<unsigned> sink(1);
  device_array<uint4> from(count);
  {
    device_array<uint4> to(count);
    const double copy = time_ms(e, [&] {
      require(cudaMemcpyAsync(to.data(), from.data(), count * 16, cudaMemcpyDeviceToDevice),
              "cudaMemcpyAsync");
    });
    all.push_back({"dram_copy", "GB/s", 2 * bytes / copy / 1e6,
                   "cudaMemcpy of 4 GiB on the device, read and written"});
  }
  // The rate depends on the launch configuration, so the fastest of several launches counts.
  const auto fastest = [&](auto launch) {
    double best = launch(4, 256);
    if (e.small) return best;
    for (const int blocks : {2, 3, 8, 16})
      for (const int threads : {256, 512}) best = std::min(best, launch(blocks, threads));
    return best;
  };
  const auto in_pieces = [&](int blocks, int threads) {
    return time_ms(e, [&] {
      read_all<<<multiprocessors * blocks, threads>>>(from.data(), count, 1, sink.data());
    });
  };
  const auto grid_stride = [&](int blocks, int threads) {
    return time_ms(e, [&] {
      read_grid_stride<<<multiprocessors * blocks, threads>>>(from.data(), count, sink.data());
    });
  };
  const double read = std::min(fastest(in_pieces), fastest(grid_stride));
  all.push_back({"dram_read", "GB/s", bytes / read / 1e6,
                 "4 GiB read in words of 16 bytes, the fastest of several launches"});
  const double write = fastest([&](int blocks, int threads) {
    return time_ms(e,
                   [&] { write_all<<<multiprocessors * blocks, threads>>>(from.data(), count); });
  });
  all.push_back({"dram_write", "GB/s", bytes / write / 1e6,
                 "4 GiB written in words of 16 bytes, the fastest of several launches"});
  require(cudaMemset(from.data(), 0, count * 16), "cudaMemset");

  // The last written data is still in L2, and must leave it to make room for reads.
  const std::size_t part = count / 8;
  const auto read_part = [&](std::size_t at) {
    read_grid_stride<<<multiprocessors * 8, 256>>>(from.data() + at, part, sink.data());
  };
  const auto write_part = [&] { write_all<<<multiprocessors * 8, 256>>>(from.data(), part); };
  const double after_reads = time_ms(e, [&] { read_part(0), read_part(part); }) -
                             time_ms(e, [&] { read_part(0); }),
               after_writes =
                   time_ms(e, [&] { write_part(), read_part(part); }) - time_ms(e, write_part);
  all.push_back({"dirty_l2", "MB",
                 std::max(1e-3, (after_writes - after_reads) * bytes / write / 1e6),
                 "512 MiB read after 512 MiB were written, and after other bytes were read; the "
                 "time that the writes add, as bytes at the rate of dram_write"});

  for (const int warps : {1, 2, 4, 8, 16, 32, 64}) {
    const int threads = std::min(32 * warps, 512), blocks = 32 * warps / threads;
    const int loads = e.scaled(2000, 2);
    const double ms = time_ms(e, [&] {
      read_dependent<<<multiprocessors * blocks, threads>>>(from.data(), count, loads, sink.data());
    });
    const double moved = 16.0 * 32 * warps * multiprocessors * loads;
    all.push_back(
        {"dram_read_" + std::to_string(512 * warps) + "_in_flight", "GB/s", moved / ms / 1e6,
         std::to_string(512 * warps) + " bytes in flight per multiprocessor, 16 per thread"});
  }

  const std::size_t in_l2 = e.scaled(std::size_t{1} << 21, std::size_t{1} << 19);  // 32 MiB
  const int passes = e.scaled(32, 1), grid = multiprocessors * e.scaled(4, 1);
  const double l2 =
      time_ms(e, [&] { read_all<<<grid, 256>>>(from.data(), in_l2, passes, sink.data()); });
  all.push_back({"l2_read", "GB/s", 16.0 * static_cast<double>(in_l2) * passes / l2 / 1e6,
                 "32 MiB read repeatedly, bypassing L1"});

  const auto blocks = static_cast<unsigned>(multiprocessors);
  device_array<span> spans(std::size_t{blocks} * 32);
  const int rounds = e.scaled(512, at_once);
  read_l1<<<blocks, 1024>>>(from.data(), rounds, sink.data(), spans.data());
  require(cudaDeviceSynchronize(), "read_l1");
  all.push_back({"l1_read", "bytes / clock / multiprocessor",
                 16384.0 * rounds / median_cycles(spans, blocks, 1024),
                 "16 KiB read repeatedly through L1, by 1024 threads"});
  read_shared<<<blocks, 1024>>>(rounds, sink.data(), spans.data());
  require(cudaDeviceSynchronize(), "read_shared");
  all.push_back({"shared_read", "bytes / clock / multiprocessor",
                 16384.0 * rounds / median_cycles(spans, blocks, 1024),
                 "16 KiB of shared memory read repeatedly, by 1024 threads"});
}

}  // namespace stepwise::measure
