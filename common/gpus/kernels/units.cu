// Launches that each test one kind of access or instruction, to find out what a
// profiler's counters count.
#include <cstdio>
#include <cstring>

#include "common/gpus/kernels/products.cuh"
#include "common/gpus/measure/timing.cuh"

using namespace stepwise::hopper;
using stepwise::measure::device_array;
using stepwise::measure::require;

constexpr unsigned shared = 100 * 1024;

template <int N, bool Registers>
__global__ void unit_wgmma(float* to) {
  extern __shared__ __align__(1024) unsigned char tiles[];
  const unsigned base = shared_address(tiles);
  float d[N / 2] = {};
  const unsigned a[4] = {};
  products_begin();
#pragma unroll
  for (int i = 0; i < 16; ++i) {
    if constexpr (Registers)
      product<N>::of_registers(d, a, tile_descriptor(base + 8192), 1);
    else
      product<N>::of_shared(d, tile_descriptor(base), tile_descriptor(base + 8192), 1);
  }
  products_commit();
  products_wait<0>();
  if (to != nullptr)
    for (int i = 0; i < N / 2; ++i) to[threadIdx.x * N / 2 + i] = d[i];
}
__global__ void unit_mma(float* to) {
  float d[4] = {};
  const unsigned a[4] = {threadIdx.x, 1, 2, 3};
  for (int i = 0; i < 16; ++i) multiply(d, a, 1, 2);
  to[threadIdx.x] = d[0] + d[1] + d[2] + d[3];
}
__global__ void unit_ldmatrix(unsigned* to) {
  extern __shared__ __align__(1024) unsigned char tiles[];
  unsigned r[4], sum = 0;
  for (int i = 0; i < 16; ++i) {
    load_matrices(r, shared_address(tiles) + threadIdx.x % 32 * 16 + i * 512);
    sum += r[0] + r[1] + r[2] + r[3];
  }
  to[threadIdx.x] = sum;
}
__global__ void unit_load_box(const __grid_constant__ CUtensorMap map, unsigned bytes, int boxes,
                              int rows) {
  extern __shared__ __align__(1024) unsigned char tiles[];
  __shared__ __align__(8) unsigned long long word;
  const unsigned full = shared_address(&word);
  init_barrier(full, 1);
  fence_init();
  expect_bytes(full, bytes * boxes);
  for (int i = 0; i < boxes; ++i) load_box(shared_address(tiles), map, 0, i * rows, full);
  wait_for(full, 0);
}
__global__ void unit_load_box_for_cluster(const __grid_constant__ CUtensorMap map, unsigned bytes,
                                          int boxes, int rows) {
  extern __shared__ __align__(1024) unsigned char tiles[];
  __shared__ __align__(8) unsigned long long word;
  const unsigned full = shared_address(&word);
  init_barrier(full, 1);
  fence_init();
  expect_bytes(full, bytes * boxes);
  cluster_sync();
  unsigned cluster;
  asm volatile("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(cluster));
  if (cluster_rank() == 0)
    for (int i = 0; i < boxes; ++i)
      load_box_for(shared_address(tiles), map, 0, i * rows, full,
                   static_cast<unsigned short>((1 << cluster) - 1));
  wait_for(full, 0);
  cluster_sync();
}
__global__ void unit_load_bytes(const unsigned char* from, unsigned bytes, int copies) {
  extern __shared__ __align__(1024) unsigned char tiles[];
  __shared__ __align__(8) unsigned long long word;
  const unsigned full = shared_address(&word);
  init_barrier(full, 1);
  fence_init();
  expect_bytes(full, bytes * copies);
  for (int i = 0; i < copies; ++i)
    load_bytes(shared_address(tiles), from + static_cast<std::size_t>(i) * bytes, bytes, full);
  wait_for(full, 0);
}
__global__ void unit_store_box(const __grid_constant__ CUtensorMap map, int boxes, int rows) {
  extern __shared__ __align__(1024) unsigned char tiles[];
  for (int i = 0; i < boxes; ++i) store_box(map, 0, i * rows, shared_address(tiles));
  commit_copies();
  wait_for_copies<0>();
}
__global__ void unit_store_bytes(unsigned char* to, unsigned bytes, int copies) {
  extern __shared__ __align__(1024) unsigned char tiles[];
  for (int i = 0; i < copies; ++i)
    store_bytes(to + static_cast<std::size_t>(i) * bytes, shared_address(tiles), bytes);
  commit_copies();
  wait_for_copies<0>();
}
__global__ void unit_add_floats(float* to, unsigned bytes, int copies) {
  extern __shared__ __align__(1024) unsigned char tiles[];
  for (int i = 0; i < copies; ++i)
    add_floats(to + static_cast<std::size_t>(i) * bytes / 4, shared_address(tiles), bytes);
  commit_copies();
  wait_for_copies<0>();
}
__global__ void unit_arrivals() {
  __shared__ __align__(8) unsigned long long word;
  const unsigned full = shared_address(&word);
  if (threadIdx.x == 0) {
    init_barrier(full, blockDim.x);
    fence_init();
  }
  __syncthreads();
  for (int i = 0; i < 16; ++i) {
    arrive(full);
    wait_for(full, i & 1);
  }
}
__global__ void unit_cluster_barriers() {
  for (int i = 0; i < 16; ++i) cluster_sync();
}
__global__ void unit_cluster_access(int what, unsigned* to) {
  __shared__ __align__(16) unsigned own[4096];
  for (int i = threadIdx.x; i < 4096; i += blockDim.x) own[i] = i;
  const unsigned there = map_shared(shared_address(own), cluster_rank() ^ 1);
  cluster_sync();
  unsigned sum = 0;
#pragma unroll
  for (int i = 0; i < 16; ++i) {
    if (what == 0) sum += load_cluster(there + (threadIdx.x + 32 * i) * 4);
    if (what == 1)
      sum += stepwise::measure::folded(load_cluster4(there + (threadIdx.x + 32 * i) * 16));
    if (what == 2) sum += load_cluster(there + (threadIdx.x * 32 + i) * 4);
    if (what == 3) store_cluster4(there + (threadIdx.x + 32 * i) * 16, uint4{sum, 1, 2, 3});
    if (what == 4) add_cluster(there + (threadIdx.x + 32 * i) * 4, 1);
    if (what == 5) add_cluster(there + i * 4, 1);
  }
  cluster_sync();
  to[threadIdx.x] = sum + own[threadIdx.x];
}

template <class... P, class... A>
void launch(void (*kernel)(P...), unsigned blocks, unsigned threads, unsigned cluster, A... with) {
  require(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared), "set");
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {cluster, 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = blocks;
  config.blockDim = threads;
  config.dynamicSmemBytes = shared;
  config.attrs = &attribute;
  config.numAttrs = cluster > 1 ? 1 : 0;
  require(cudaLaunchKernelEx(&config, kernel, P(with)...), "launch");
  require(cudaDeviceSynchronize(), "a unit");
}
template <int N>
void wgmma(float* to) {
  launch(unit_wgmma<N, false>, 1, 128, 1, to);
  launch(unit_wgmma<N, true>, 1, 128, 1, to);
}

// The order of the launches is the order in the profiler's report.
int main() {
  device_array<unsigned char> memory(64u << 20);
  float* const floats = reinterpret_cast<float*>(memory.data());
  unsigned* const words = reinterpret_cast<unsigned*>(memory.data());
  wgmma<8>(nullptr);
  wgmma<64>(nullptr);
  wgmma<128>(nullptr);
  wgmma<256>(nullptr);
  launch(unit_wgmma<128, false>, 1, 256, 1, static_cast<float*>(nullptr));
  launch(unit_mma, 1, 32, 1, floats);
  launch(unit_ldmatrix, 1, 32, 1, words);
  const struct {
    unsigned rows, cols;
  } boxes[] = {{64, 64}, {64, 32}, {64, 16}, {64, 8}, {1, 64}, {128, 64}};
  for (const auto& b : boxes) {
    CUtensorMap map;
    if (!encode_map(map, memory.data(), 8192, 512, b.rows, b.cols)) return 1;
    launch(unit_load_box, 1, 1, 1, map, b.rows * b.cols * 2, 4, static_cast<int>(b.rows));
    launch(unit_store_box, 1, 1, 1, map, 4, static_cast<int>(b.rows));
    if (b.cols == 64 && b.rows > 1)
      for (const unsigned cluster : {2u, 4u})
        launch(unit_load_box_for_cluster, cluster, 1, cluster, map, b.rows * b.cols * 2, 4,
               static_cast<int>(b.rows));
  }
  for (const unsigned bytes : {16u, 128u, 4096u}) {
    launch(unit_load_bytes, 1, 1, 1, memory.data(), bytes, 4);
    launch(unit_store_bytes, 1, 1, 1, memory.data(), bytes, 4);
    launch(unit_add_floats, 1, 1, 1, floats, bytes, 4);
  }
  launch(unit_arrivals, 1, 32, 1);
  launch(unit_arrivals, 1, 128, 1);
  launch(unit_cluster_barriers, 2, 128, 2);
  for (int what = 0; what < 6; ++what) launch(unit_cluster_access, 2, 32, 2, what, words);
  std::puts("done");
  return 0;
}
