// Copies, sums and exchanges with bulk copies, tensor copies, mbarriers and
// clusters.
#pragma once

#include "common/gpus/measure/hopper.cuh"

namespace stepwise::hopper {

// One thread per block moves chunks through a ring in shared memory.
template <int Bytes, int Stages>
__global__ void copy_chunks(const unsigned char* from, unsigned char* to, int chunks) {
  extern __shared__ __align__(1024) unsigned char memory[];
  unsigned char* const ring = memory;
  __shared__ __align__(8) unsigned long long words[Stages];
  if (threadIdx.x != 0) return;
  for (int s = 0; s < Stages; ++s) init_barrier(shared_address(words + s), 1);
  fence_init();
  const int each = (chunks + static_cast<int>(gridDim.x) - 1) / static_cast<int>(gridDim.x);
  const int first = static_cast<int>(blockIdx.x) * each, end = min(chunks, first + each);
  const auto load = [&](int n) {
    const int s = (n - first) % Stages;
    expect_bytes(shared_address(words + s), Bytes);
    load_bytes(shared_address(ring) + s * Bytes, from + static_cast<std::size_t>(n) * Bytes, Bytes,
               shared_address(words + s));
  };
  for (int n = first; n < min(end, first + Stages - 1); ++n) load(n);
  for (int n = first; n < end; ++n) {
    const int s = (n - first) % Stages;
    wait_for(shared_address(words + s), (n - first) / Stages & 1);
    store_bytes(to + static_cast<std::size_t>(n) * Bytes, shared_address(ring) + s * Bytes, Bytes);
    commit_copies();
    if (n + Stages - 1 < end) {
      wait_for_reads<1>();  // the next load overwrites the stage that was
                            // stored in the previous iteration
      load(n + Stages - 1);
    }
  }
  wait_for_copies<0>();
}

// Each block loads a box of 64 x 64 values and stores it unchanged.
__global__ void copy_box(const __grid_constant__ CUtensorMap from,
                         const __grid_constant__ CUtensorMap to) {
  extern __shared__ __align__(1024) unsigned char memory[];
  unsigned char* const box = memory;
  __shared__ __align__(8) unsigned long long word;
  if (threadIdx.x != 0) return;
  const unsigned full = shared_address(&word);
  const int x = static_cast<int>(blockIdx.x) * 64, y = static_cast<int>(blockIdx.y) * 64;
  init_barrier(full, 1);
  fence_init();
  expect_bytes(full, 8192);
  load_box(shared_address(box), from, x, y, full);
  wait_for(full, 0);
  store_box(to, x, y, shared_address(box));
  commit_copies();
  wait_for_copies<0>();
}

// Transposes boxes of 64 x 64 values, which tensor copies load and store.
__global__ void transpose_boxes(const __grid_constant__ CUtensorMap from,
                                const __grid_constant__ CUtensorMap to) {
  extern __shared__ __align__(1024) unsigned char memory[];
  unsigned char* const boxes = memory;
  __shared__ __align__(8) unsigned long long word;
  const unsigned full = shared_address(&word), base = shared_address(boxes);
  const int x = static_cast<int>(blockIdx.x) * 64, y = static_cast<int>(blockIdx.y) * 64;
  if (threadIdx.x == 0) {
    init_barrier(full, 1);
    fence_init();
    expect_bytes(full, 8192);
    load_box(base, from, x, y, full);
  }
  __syncthreads();
  wait_for(full, 0);
  // Within each row of 128 bytes, chunks of 16 bytes are swizzled.
  const auto at = [](int row, int col) {
    return row * 128 + ((col / 8 ^ row % 8) * 16) + col % 8 * 2;
  };
  for (int i = static_cast<int>(threadIdx.x); i < 4096; i += static_cast<int>(blockDim.x)) {
    const int row = i / 64, col = i % 64;
    *reinterpret_cast<__nv_bfloat16*>(boxes + 8192 + at(row, col)) =
        *reinterpret_cast<const __nv_bfloat16*>(boxes + at(col, row));
  }
  fence_proxy();
  __syncthreads();
  if (threadIdx.x == 0) {
    store_box(to, y, x, base + 8192);
    commit_copies();
    wait_for_copies<0>();
  }
}

// y = 3 x + 1 for chunks of 8 KiB of floats. A producer warp loads the chunks.
// The other warps compute and write to a second ring, and one of their threads
// issues the bulk stores.
template <int Stages>
__global__ void scale_chunks(const float* x, float* y, int chunks) {
  constexpr int floats = 2048, bytes = floats * 4, workers = 128;
  extern __shared__ __align__(1024) unsigned char memory[];
  auto* const ring = reinterpret_cast<float*>(memory);
  __shared__ __align__(8) unsigned long long words[2 * Stages];
  const auto full = [&](int s) { return shared_address(words + s); };
  const auto empty = [&](int s) { return shared_address(words + Stages + s); };
  if (threadIdx.x == 0) {
    for (int s = 0; s < Stages; ++s) {
      init_barrier(full(s), 1);
      init_barrier(empty(s), workers);
    }
    fence_init();
  }
  __syncthreads();
  const int grid = static_cast<int>(gridDim.x), first = static_cast<int>(blockIdx.x);
  int turn = 0;
  if (threadIdx.x >= workers) {
    if (threadIdx.x != workers) return;
    for (int n = first; n < chunks; n += grid, ++turn) {
      const int s = turn % Stages;
      wait_for(empty(s), turn / Stages & 1 ^ 1);
      expect_bytes(full(s), bytes);
      load_bytes(shared_address(ring + s * floats), x + static_cast<std::size_t>(n) * floats, bytes,
                 full(s));
    }
    return;
  }
  for (int n = first; n < chunks; n += grid, ++turn) {
    const int s = turn % Stages;
    wait_for(full(s), turn / Stages & 1);
    const auto* const in = reinterpret_cast<const float4*>(ring + s * floats);
    auto* const out = reinterpret_cast<float4*>(ring + (Stages + turn % 2) * floats);
    if (threadIdx.x == 0) wait_for_reads<1>();
    named_barrier(1, workers);
    for (int i = static_cast<int>(threadIdx.x); i < floats / 4; i += workers) {
      const float4 v = in[i];
      out[i] = {3 * v.x + 1, 3 * v.y + 1, 3 * v.z + 1, 3 * v.w + 1};
    }
    arrive(empty(s));
    fence_proxy();
    named_barrier(1, workers);
    if (threadIdx.x == 0) {
      store_bytes(y + static_cast<std::size_t>(n) * floats, shared_address(out), bytes);
      commit_copies();
    }
  }
  if (threadIdx.x == 0) wait_for_copies<0>();
}

// Sums chunks of 16 KiB. A producer warp loads the chunks, eight warps add up
// their values, and a bulk reduction adds the block's 256 partial sums to `sums`.
template <int Stages>
__global__ void sum_chunks(const float* x, float* sums, int chunks) {
  constexpr int floats = 4096, workers = 256;
  extern __shared__ __align__(1024) unsigned char memory[];
  auto* const ring = reinterpret_cast<float*>(memory);
  __shared__ __align__(16) float part[workers];
  __shared__ __align__(8) unsigned long long words[2 * Stages];
  const auto full = [&](int s) { return shared_address(words + s); };
  const auto empty = [&](int s) { return shared_address(words + Stages + s); };
  if (threadIdx.x == 0) {
    for (int s = 0; s < Stages; ++s) {
      init_barrier(full(s), 1);
      init_barrier(empty(s), workers / 32);
    }
    fence_init();
  }
  __syncthreads();
  const int grid = static_cast<int>(gridDim.x), first = static_cast<int>(blockIdx.x);
  int turn = 0;
  float sum = 0;
  if (threadIdx.x >= workers) {
    if (threadIdx.x == workers)
      for (int n = first; n < chunks; n += grid, ++turn) {
        const int s = turn % Stages;
        wait_for(empty(s), turn / Stages & 1 ^ 1);
        expect_bytes(full(s), floats * 4);
        load_bytes(shared_address(ring + s * floats), x + static_cast<std::size_t>(n) * floats,
                   floats * 4, full(s));
      }
  } else {
    for (int n = first; n < chunks; n += grid, ++turn) {
      const int s = turn % Stages;
      wait_for(full(s), turn / Stages & 1);
      const auto* const in = reinterpret_cast<const float4*>(ring + s * floats);
#pragma unroll
      for (int i = 0; i < floats / 4 / workers; ++i) {
        const float4 v = in[i * workers + threadIdx.x];
        sum += v.x + v.y + v.z + v.w;
      }
      __syncwarp();
      if (threadIdx.x % 32 == 0) arrive(empty(s));
    }
    part[threadIdx.x] = sum;
    fence_proxy();
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    add_floats(sums, shared_address(part), workers * 4);
    commit_copies();
    wait_for_copies<0>();
  }
}

// Adds rows of a table to accumulators in global memory by bulk reductions. Each
// block adds `rows` rows of 4 KiB, cycling through `places` accumulators.
__global__ void add_rows(const float* table, float* to, int rows, int places) {
  extern __shared__ __align__(1024) unsigned char memory[];
  auto* const row = reinterpret_cast<float*>(memory);
  __shared__ __align__(8) unsigned long long words[2];
  if (threadIdx.x != 0) return;
  for (int s = 0; s < 2; ++s) init_barrier(shared_address(words + s), 1);
  fence_init();
  const int first = static_cast<int>(blockIdx.x) * rows;
  const auto load = [&](int r) {
    const unsigned full = shared_address(words + r % 2);
    expect_bytes(full, 4096);
    load_bytes(shared_address(row + r % 2 * 1024),
               table + static_cast<std::size_t>(first + r) * 1024, 4096, full);
  };
  load(0);
  for (int r = 0; r < rows; ++r) {
    wait_for_reads<0>();
    if (r + 1 < rows) load(r + 1);
    wait_for(shared_address(words + r % 2), r / 2 & 1);
    add_floats(to + static_cast<std::size_t>((first + r) % places) * 1024,
               shared_address(row + r % 2 * 1024), 4096);
    commit_copies();
  }
  wait_for_copies<0>();
}

// --- clusters ---

// The bins are spread over the blocks of a cluster. Every block adds to all bins.
template <int Cluster>
__global__ void __cluster_dims__(Cluster, 1, 1)
    cluster_histogram(const unsigned* values, unsigned* bins, int count) {
  constexpr unsigned own_bins = 2048, all_bins = own_bins * Cluster;
  __shared__ unsigned own[own_bins];
  for (unsigned i = threadIdx.x; i < own_bins; i += blockDim.x) own[i] = 0;
  cluster_sync();
  const unsigned base = shared_address(own), rank = cluster_rank();
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < static_cast<unsigned>(count);
       i += gridDim.x * blockDim.x) {
    const unsigned bin = values[i] % all_bins;
    add_cluster(map_shared(base + bin % own_bins * 4, bin / own_bins), 1);
  }
  cluster_sync();
  for (unsigned i = threadIdx.x; i < own_bins; i += blockDim.x)
    atomicAdd(bins + rank * own_bins + i, own[i]);
}

// Smooths a line of 1024 floats per block `steps` times. The blocks of a
// cluster exchange their ends at each step.
template <int Cluster>
__global__ void __cluster_dims__(Cluster, 1, 1) __launch_bounds__(1024)
    smooth(const float* x, float* y, int steps) {
  __shared__ float line[2][1026];
  const unsigned rank = cluster_rank(), i = threadIdx.x;
  const std::size_t at = static_cast<std::size_t>(blockIdx.x) * 1024 + i;
  line[0][i + 1] = x[at];
  if (i == 0) line[0][0] = line[1][0] = line[0][1025] = line[1][1025] = 0;
  cluster_sync();
  for (int s = 0; s < steps; ++s) {
    const float* const now = line[s % 2];
    float* const next = line[s % 2 ^ 1];
    float left = now[i], right = now[i + 2];
    if (i == 0 && rank > 0)
      left = __uint_as_float(load_cluster(map_shared(shared_address(now + 1024), rank - 1)));
    if (i == 1023 && rank + 1 < Cluster)
      right = __uint_as_float(load_cluster(map_shared(shared_address(now + 1), rank + 1)));
    next[i + 1] = 0.25f * left + 0.5f * now[i + 1] + 0.25f * right;
    cluster_sync();
  }
  y[at] = line[steps % 2][i + 1];
}

// Every block reads the shared memory of all blocks of its cluster, `rounds`
// times.
template <int Cluster>
__global__ void __cluster_dims__(Cluster, 1, 1) __launch_bounds__(512)
    sum_of_cluster(const float* x, float* y, int rounds) {
  extern __shared__ __align__(16) float own[];  // 8192 floats
  const unsigned rank = cluster_rank(), base = shared_address(own);
  for (unsigned i = threadIdx.x; i < 8192; i += blockDim.x)
    own[i] = x[static_cast<std::size_t>(blockIdx.x) * 8192 + i];
  cluster_sync();
  float sum = 0;
  for (int r = 0; r < rounds; ++r) {
    const unsigned there = map_shared(base, (rank + r) % Cluster);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const uint4 v = load_cluster4(there + (threadIdx.x + i * 512) * 16);
      sum +=
          __uint_as_float(v.x) + __uint_as_float(v.y) + __uint_as_float(v.z) + __uint_as_float(v.w);
    }
  }
  y[static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x] = sum;
  cluster_sync();
}

// A table of 32 KiB is loaded once per cluster by multicast, in tiles of 4 KiB.
// Each block then looks up its values in its copy of the table.
template <int Cluster>
__global__ void __cluster_dims__(Cluster, 1, 1) __launch_bounds__(256)
    look_up(const __grid_constant__ CUtensorMap table, const unsigned* values, unsigned* sums,
            int count) {
  constexpr int tiles = 8;
  constexpr unsigned tile_bytes = 4096;  // 32 rows of 64 values of 16 bits
  extern __shared__ __align__(1024) unsigned char memory[];
  unsigned char* const copy = memory;
  __shared__ __align__(8) unsigned long long word;
  const unsigned rank = cluster_rank(), full = shared_address(&word);
  if (threadIdx.x == 0) {
    init_barrier(full, 1);
    fence_init();
    expect_bytes(full, tiles * tile_bytes);
  }
  cluster_sync();
  if (threadIdx.x == 0)
    for (int t = static_cast<int>(rank); t < tiles; t += Cluster)
      load_box_for(shared_address(copy) + t * tile_bytes, table, 0, t * 32, full,
                   static_cast<unsigned short>((1 << Cluster) - 1));
  wait_for(full, 0);
  unsigned sum = 0;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < static_cast<unsigned>(count);
       i += gridDim.x * blockDim.x)
    sum += *reinterpret_cast<const unsigned short*>(copy + values[i] % 16384 * 2);
  sums[blockIdx.x * blockDim.x + threadIdx.x] = sum;
  cluster_sync();
}

}  // namespace stepwise::hopper
