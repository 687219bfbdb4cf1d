// cub's block functions when only part of the block has elements. The other threads load nothing.
#include <cub/block/block_load.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_store.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>

using load = cub::BlockLoad<int, 64, 4, cub::BLOCK_LOAD_TRANSPOSE>;
using scan = cub::BlockScan<int, 64>;
using reduce = cub::BlockReduce<int, 64>;
using store = cub::BlockStore<int, 64, 4, cub::BLOCK_STORE_WARP_TRANSPOSE>;
using warp_reduce = cub::WarpReduce<int>;
using warp_scan = cub::WarpScan<int>;

__global__ void sums(const int* x, int* y, int* total, int n) {
  __shared__ union {
    load::TempStorage load;
    scan::TempStorage scan;
    reduce::TempStorage reduce;
    store::TempStorage store;
    warp_reduce::TempStorage warp_reduce[2];
    warp_scan::TempStorage warp_scan[2];
  } s;
  int items[4], one;
  load(s.load).Load(x, items, n);
  __syncthreads();
  scan(s.scan).InclusiveSum(items, items);
  __syncthreads();
  store(s.store).Store(y, items, n);
  __syncthreads();
  if (threadIdx.x < n / 8) one = x[threadIdx.x];
  const int sum = reduce(s.reduce).Sum(one, n / 8);
  __syncthreads();
  const int warp = threadIdx.x / 32, left = n / 8 - warp * 32;
  const int of_warp = warp_reduce(s.warp_reduce[warp]).Sum(one, left < 0 ? 0 : left);
  __syncthreads();
  int before;
  warp_scan(s.warp_scan[warp]).ExclusiveSum(one, before);
  if (threadIdx.x == 0) total[0] = sum, total[1] = of_warp;
  if (threadIdx.x < n / 8) total[2 + threadIdx.x] = before;
}

int main() {
  int host[256], *x, *y, *total;
  for (int i = 0; i < 256; ++i) host[i] = i;
  cudaMalloc(&x, sizeof host);
  cudaMalloc(&y, sizeof host);
  cudaMalloc(&total, sizeof host);
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  sums<<<1, 64>>>(x, y, total, 210);
  cudaMemcpy(host, y, 210 * sizeof(int), cudaMemcpyDeviceToHost);
  const bool right = host[209] == 209 * 210 / 2;
  cudaMemcpy(host, total, 10 * sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(y);
  cudaFree(total);
  return right && host[0] == 25 * 26 / 2 ? 0 : 1;
}
