// cub's block-wide loads, exchanges, differences and stores, which share one temporary storage.
#include <cub/block/block_adjacent_difference.cuh>
#include <cub/block/block_exchange.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_store.cuh>

using load = cub::BlockLoad<int, 64, 4, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
using exchange = cub::BlockExchange<int, 64, 4>;
using difference = cub::BlockAdjacentDifference<int, 64>;
using store = cub::BlockStore<int, 64, 4, cub::BLOCK_STORE_TRANSPOSE>;

struct minus {
  __device__ int operator()(int a, int b) const { return a - b; }
};

__global__ void differences(const int* x, int* y, int n) {
  __shared__ union {
    load::TempStorage load;
    exchange::TempStorage exchange;
    difference::TempStorage difference;
    store::TempStorage store;
  } s;
  int items[4];
  load(s.load).Load(x, items, n, 0);
  __syncthreads();
  exchange(s.exchange).BlockedToStriped(items, items);
  __syncthreads();
  exchange(s.exchange).StripedToBlocked(items, items);
  __syncthreads();
  difference(s.difference).SubtractLeft(items, items, minus());
  __syncthreads();
  store(s.store).Store(y, items, n);
}

int main() {
  int host[250], *x, *y;
  for (int i = 0; i < 250; ++i) host[i] = i * i;
  cudaMalloc(&x, sizeof host);
  cudaMalloc(&y, sizeof host);
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  differences<<<1, 64>>>(x, y, 250);
  cudaMemcpy(host, y, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(y);
  return host[0] == 0 && host[249] == 497 ? 0 : 1;
}
