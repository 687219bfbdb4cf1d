// CUB within a block and a warp: load and store with exchange, scan, reduction, radix sort,
// histogram.
#include <algorithm>
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>
#include <cub/warp/warp_reduce.cuh>

#include "common/emulator/tests/programs/program.hpp"

constexpr int threads = 128, items = 4, n = threads * items;

__global__ void run(const int* in, int* scanned, int* sorted, unsigned* histogram, int* sums) {
  using load = cub::BlockLoad<int, threads, items, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
  using store = cub::BlockStore<int, threads, items, cub::BLOCK_STORE_TRANSPOSE>;
  using scan = cub::BlockScan<int, threads, cub::BLOCK_SCAN_RAKING>;
  using sort = cub::BlockRadixSort<int, threads, items>;
  using reduce = cub::BlockReduce<int, threads>;
  using warp = cub::WarpReduce<int>;
  using count = cub::BlockHistogram<unsigned char, threads, items, 16>;
  __shared__ union {
    load::TempStorage load;
    store::TempStorage store;
    scan::TempStorage scan;
    sort::TempStorage sort;
    reduce::TempStorage reduce;
    warp::TempStorage warp[threads / 32];
    count::TempStorage count;
  } temporary;
  int value[items], sum[items];
  load(temporary.load).Load(in, value);
  __syncthreads();
  scan(temporary.scan).InclusiveSum(value, sum);
  __syncthreads();
  store(temporary.store).Store(scanned, sum);
  __syncthreads();
  const int total = reduce(temporary.reduce).Sum(value);
  if (threadIdx.x == 0) sums[0] = total;
  __syncthreads();
  const int of_warp = warp(temporary.warp[threadIdx.x / 32]).Sum(value[0]);
  if (threadIdx.x % 32 == 0) sums[1 + threadIdx.x / 32] = of_warp;
  __syncthreads();
  unsigned char digit[items];
  for (int k = 0; k < items; ++k) digit[k] = static_cast<unsigned char>(value[k] & 15);
  count(temporary.count).Histogram(digit, histogram);
  __syncthreads();
  sort(temporary.sort).Sort(value);
  for (int k = 0; k < items; ++k) sorted[threadIdx.x * items + k] = value[k];
}

int main() {
  std::vector<int> in(n);
  for (int i = 0; i < n; ++i) in[i] = static_cast<int>((i * 2654435761u) >> 17) - 9000;
  device_array<int> d_in(in), scanned(n), sorted(n), sums(1 + threads / 32);
  device_array<unsigned> histogram(16);
  run<<<1, threads>>>(d_in.get(), scanned.get(), sorted.get(), histogram.get(), sums.get());
  finish();
  std::vector<int> want_scan(n), want_sums(1 + threads / 32), want_sorted = in;
  std::vector<unsigned> want_histogram(16);
  int sum = 0;
  for (int i = 0; i < n; ++i) {
    want_scan[i] = sum += in[i];
    ++want_histogram[in[i] & 15];
    if (i % items == 0) want_sums[1 + i / items / 32] += in[i];
  }
  want_sums[0] = sum;
  std::sort(want_sorted.begin(), want_sorted.end());
  return compare("scan", scanned.values(), want_scan) +
                 compare("sort", sorted.values(), want_sorted) +
                 compare("histogram", histogram.values(), want_histogram) +
                 compare("sums", sums.values(), want_sums)
             ? 1
             : 0;
}
