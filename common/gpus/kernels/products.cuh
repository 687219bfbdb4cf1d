// Matrix products C (m x n, bf16) = A (m x k) * B^T, where B is n x k; both are
// row-major bf16 matrices. Every size is a multiple of its tile.
#pragma once

#include <mma.h>

#include "common/gpus/measure/hopper.cuh"

namespace stepwise::hopper {

constexpr int tile_k = 64;  // elements: a row of 128 bytes in shared memory
constexpr unsigned row_bytes = 128;

// The row and column of element i of a thread's accumulators, in a warpgroup's
// tile of 64 x N.
__device__ inline int row_of(int i) {
  return threadIdx.x / 32 % 4 * 16 + threadIdx.x % 32 / 4 + 8 * (i / 2 % 2);
}
__device__ inline int col_of(int i) {
  return 8 * (i / 4) + 2 * (static_cast<int>(threadIdx.x) % 4) + i % 2;
}
template <int N>
__device__ void store_tile(__nv_bfloat16* c, int cols, int row, int col, const float (&d)[N / 2]) {
#pragma unroll
  for (int i = 0; i < N / 2; i += 2) {
    const std::size_t at = static_cast<std::size_t>(row + row_of(i)) * cols + col + col_of(i);
    *reinterpret_cast<__nv_bfloat162*>(c + at) = __floats2bfloat162_rn(d[i], d[i + 1]);
  }
}

// Multiplies one tile of k as four products of 16 values of k each.
template <int N>
__device__ void multiply_tile(float (&d)[N / 2], unsigned a, unsigned b) {
  const std::uint64_t a_tile = tile_descriptor(a), b_tile = tile_descriptor(b);
#pragma unroll
  for (int i = 0; i < 4; ++i) product<N>::of_shared(d, a_tile + 2 * i, b_tile + 2 * i, 1);
}

// Threads store the tiles to shared memory.
template <int BM, int BN>
__global__ void __launch_bounds__(BM * 2)
    stored_product(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int n, int k) {
  extern __shared__ __align__(1024) unsigned char tiles[];
  const int row = static_cast<int>(blockIdx.y) * BM, col = static_cast<int>(blockIdx.x) * BN;
  float d[BN / 2] = {};
  const auto store = [&](const __nv_bfloat16* from, unsigned char* to, int rows) {
    for (int i = static_cast<int>(threadIdx.x); i < rows * 8; i += BM * 2) {
      const int r = i / 8, chunk = i % 8;
      *reinterpret_cast<uint4*>(to + r * row_bytes + (chunk ^ r % 8) * 16) =
          *reinterpret_cast<const uint4*>(from + static_cast<std::size_t>(r) * k + chunk * 8);
    }
  };
  for (int from = 0; from < k; from += tile_k) {
    store(a + static_cast<std::size_t>(row) * k + from, tiles, BM);
    store(b + static_cast<std::size_t>(col) * k + from, tiles + BM * row_bytes, BN);
    fence_proxy();
    __syncthreads();
    const unsigned base = shared_address(tiles);
    products_begin();
    multiply_tile<BN>(d, base + threadIdx.x / 128 * 64 * row_bytes, base + BM * row_bytes);
    products_commit();
    products_wait<0>();
    __syncthreads();
  }
  store_tile<BN>(c, n, row + static_cast<int>(threadIdx.x) / 128 * 64, col, d);
}

// One thread loads the tiles, and all threads wait for them.
template <int BM, int BN>
__global__ void __launch_bounds__(BM * 2)
    loaded_product(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                   __nv_bfloat16* c, int n, int k) {
  extern __shared__ __align__(1024) unsigned char tiles[];
  __shared__ __align__(8) unsigned long long word;
  const unsigned base = shared_address(tiles), full = shared_address(&word);
  const int row = static_cast<int>(blockIdx.y) * BM, col = static_cast<int>(blockIdx.x) * BN;
  if (threadIdx.x == 0) {
    init_barrier(full, 1);
    fence_init();
  }
  __syncthreads();
  float d[BN / 2] = {};
  for (int from = 0, turn = 0; from < k; from += tile_k, ++turn) {
    if (threadIdx.x == 0) {
      expect_bytes(full, (BM + BN) * row_bytes);
      load_box(base, a, from, row, full);
      load_box(base + BM * row_bytes, b, from, col, full);
    }
    wait_for(full, turn & 1);
    products_begin();
    multiply_tile<BN>(d, base + threadIdx.x / 128 * 64 * row_bytes, base + BM * row_bytes);
    products_commit();
    products_wait<0>();
    __syncthreads();
  }
  store_tile<BN>(c, n, row + static_cast<int>(threadIdx.x) / 128 * 64, col, d);
}

// A producer warpgroup keeps a ring of tiles full for BM / 64 consumer
// warpgroups. In a cluster of two blocks, each block loads half of B's tile for
// both. Lag: the number of groups of products that a consumer leaves in flight.
template <int BM, int BN, int Stages, int Cluster = 1, int Lag = 0>
struct ring {
  static constexpr int consumers = BM / 64, threads = (consumers + 1) * 128;
  static constexpr unsigned stage_bytes = (BM + BN) * row_bytes;
  static constexpr unsigned shared_bytes = Stages * stage_bytes + 1024;
};
template <int BM, int BN, int Stages, int Cluster, int Lag>
__global__ void __launch_bounds__((BM / 64 + 1) * 128, 1)
    ring_product(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
                 __nv_bfloat16* c, int m, int n, int k) {
  using shape = ring<BM, BN, Stages, Cluster, Lag>;
  extern __shared__ __align__(1024) unsigned char tiles[];
  __shared__ __align__(8) unsigned long long words[2 * Stages];
  const unsigned base = (shared_address(tiles) + 1023) & ~1023u;
  const auto full = [&](int s) { return shared_address(words + s); };
  const auto empty = [&](int s) { return shared_address(words + Stages + s); };
  const unsigned rank = Cluster > 1 ? cluster_rank() : 0;
  if (threadIdx.x == 0) {
    for (int s = 0; s < Stages; ++s) {
      init_barrier(full(s), 1);
      init_barrier(empty(s), shape::consumers * Cluster);
    }
    fence_init();
  }
  if constexpr (Cluster > 1)
    cluster_sync();
  else
    __syncthreads();
  const int tile_rows = m / BM, tiles_all = tile_rows * (n / BN), warpgroup = threadIdx.x / 128;
  int stage = 0, phase = 0;
  const auto next = [&] {
    if (++stage == Stages) {
      stage = 0;
      phase ^= 1;
    }
  };
  if (warpgroup == shape::consumers) {
    if constexpr (shape::consumers > 1) set_registers<24>();
    if (threadIdx.x % 128 == 0) {
      for (int tile = static_cast<int>(blockIdx.x); tile < tiles_all;
           tile += static_cast<int>(gridDim.x)) {
        const int row = tile % tile_rows * BM, col = tile / tile_rows * BN;
        for (int from = 0; from < k; from += tile_k, next()) {
          wait_for(empty(stage), phase ^ 1);
          const unsigned at = base + stage * shape::stage_bytes, b_at = at + BM * row_bytes;
          expect_bytes(full(stage), shape::stage_bytes);
          load_box(at, a, from, row, full(stage));
          if constexpr (Cluster > 1)
            load_box_for(b_at + rank * (BN / Cluster) * row_bytes, b, from,
                         col + static_cast<int>(rank) * (BN / Cluster), full(stage),
                         (1 << Cluster) - 1);
          else
            load_box(b_at, b, from, col, full(stage));
        }
      }
    }
  } else {
    if constexpr (shape::consumers > 1) set_registers<240>();
    const auto release = [&](int s) {
      if constexpr (Cluster > 1) {
        if (threadIdx.x % 128 < Cluster) arrive_remote(empty(s), threadIdx.x % 128);
      } else {
        if (threadIdx.x % 128 == 0) arrive(empty(s));
      }
    };
    for (int tile = static_cast<int>(blockIdx.x); tile < tiles_all;
         tile += static_cast<int>(gridDim.x)) {
      const int row = tile % tile_rows * BM, col = tile / tile_rows * BN;
      float d[BN / 2] = {};
      int before = -1;
      for (int from = 0; from < k; from += tile_k, next()) {
        wait_for(full(stage), phase);
        const unsigned at = base + stage * shape::stage_bytes;
        products_begin();
        multiply_tile<BN>(d, at + warpgroup * 64 * row_bytes, at + BM * row_bytes);
        products_commit();
        products_wait<Lag>();
        if constexpr (Lag == 0)
          release(stage);
        else if (before >= 0)
          release(before);
        before = stage;
      }
      if constexpr (Lag > 0) {
        products_wait<0>();
        release(before);
      }
      store_tile<BN>(c, n, row + warpgroup * 64, col, d);
    }
  }
  if constexpr (Cluster > 1) cluster_sync();
}

// --- mma, for warps ---

__device__ inline void load_matrices(unsigned (&r)[4], unsigned at) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(at)
               : "memory");
}
__device__ inline void multiply(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, "
      "%2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ inline void copy_async(unsigned to, const void* from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}

// Eight warps compute a tile of 128 x 128, in steps of 32 values of k. Each warp
// computes 64 x 32 elements. Rows in shared memory are padded.
template <int Stages>
__global__ void __launch_bounds__(256)
    warp_product(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int n, int k) {
  constexpr int tile = 128, depth = 32;
  constexpr unsigned pitch = 80, tile_bytes = tile * pitch;
  extern __shared__ __align__(1024) unsigned char tiles[];
  const unsigned base = shared_address(tiles);
  const int row = static_cast<int>(blockIdx.y) * tile, col = static_cast<int>(blockIdx.x) * tile;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int warp_row = warp / 4 * 64, warp_col = warp % 4 * 32;
  float d[4][4][4] = {};
  const auto load = [&](int step) {
    const unsigned to = base + step % Stages * 2 * tile_bytes;
    for (int i = threadIdx.x; i < tile * 4; i += 256) {
      const int r = i / 4, chunk = i % 4;
      copy_async(to + r * pitch + chunk * 16,
                 a + static_cast<std::size_t>(row + r) * k + step * depth + chunk * 8);
      copy_async(to + tile_bytes + r * pitch + chunk * 16,
                 b + static_cast<std::size_t>(col + r) * k + step * depth + chunk * 8);
    }
  };
  const int steps = k / depth;
  for (int s = 0; s < Stages - 1; ++s) {
    load(s);
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  for (int step = 0; step < steps; ++step) {
    if constexpr (Stages == 1) {
      load(step);
      asm volatile("cp.async.commit_group;" ::: "memory");
    }
    asm volatile("cp.async.wait_group %0;" ::"n"(Stages == 1 ? 0 : Stages - 2) : "memory");
    __syncthreads();
    if constexpr (Stages > 1) {
      if (step + Stages - 1 < steps) load(step + Stages - 1);
      asm volatile("cp.async.commit_group;" ::: "memory");
    }
    const unsigned at = base + step % Stages * 2 * tile_bytes;
#pragma unroll
    for (int kk = 0; kk < depth; kk += 16) {
      unsigned fa[4][4], fb[2][4];
#pragma unroll
      for (int i = 0; i < 4; ++i)
        load_matrices(fa[i],
                      at + (warp_row + i * 16 + lane % 16) * pitch + kk * 2 + lane / 16 * 16);
#pragma unroll
      for (int j = 0; j < 2; ++j)
        load_matrices(fb[j], at + tile_bytes + (warp_col + j * 16 + lane % 16) * pitch + kk * 2 +
                                 lane / 16 * 16);
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j)
          multiply(d[i][j], fa[i], fb[j / 2][j % 2], fb[j / 2][j % 2 + 2]);
    }
    if constexpr (Stages == 1) __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const std::size_t at =
            static_cast<std::size_t>(row + warp_row + i * 16 + lane / 4 + 8 * h) * n + col +
            warp_col + j * 8 + lane % 4 * 2;
        *reinterpret_cast<__nv_bfloat162*>(c + at) =
            __floats2bfloat162_rn(d[i][j][2 * h], d[i][j][2 * h + 1]);
      }
}

// One warp per 16 x 16 tile, with operands from global memory.
__global__ void naive_warp_product(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c,
                                   int n, int k) {
  using namespace nvcuda::wmma;
  __shared__ float out[4][256];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int row = static_cast<int>(blockIdx.y) * 16;
  const int col = (static_cast<int>(blockIdx.x) * 4 + warp) * 16;
  fragment<matrix_a, 16, 16, 16, __nv_bfloat16, row_major> fa;
  fragment<matrix_b, 16, 16, 16, __nv_bfloat16, col_major> fb;
  fragment<accumulator, 16, 16, 16, float> d;
  fill_fragment(d, 0.0f);
  for (int from = 0; from < k; from += 16) {
    load_matrix_sync(fa, a + static_cast<std::size_t>(row) * k + from, k);
    load_matrix_sync(fb, b + static_cast<std::size_t>(col) * k + from, k);
    mma_sync(d, fa, fb, d);
  }
  store_matrix_sync(out[warp], d, 16, mem_row_major);
  __syncwarp();
  for (int i = lane; i < 256; i += 32)
    c[static_cast<std::size_t>(row + i / 16) * n + col + i % 16] = __float2bfloat16(out[warp][i]);
}

// Loads fragments directly from global memory. Each of a block's four warps
// computes 32 x 32 elements.
__global__ void direct_warp_product(const __nv_bfloat16* a, const __nv_bfloat16* b,
                                    __nv_bfloat16* c, int n, int k) {
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int row = static_cast<int>(blockIdx.y) * 64 + warp / 2 * 32;
  const int col = static_cast<int>(blockIdx.x) * 64 + warp % 2 * 32;
  const auto word = [&](const __nv_bfloat16* m, int r, int at) {
    return *reinterpret_cast<const unsigned*>(m + static_cast<std::size_t>(r) * k + at);
  };
  float d[2][4][4] = {};
  for (int from = 0; from < k; from += 16) {
    const int at = from + lane % 4 * 2;
    unsigned fa[2][4], fb[4][2];
#pragma unroll
    for (int i = 0; i < 2; ++i)
#pragma unroll
      for (int r = 0; r < 4; ++r)
        fa[i][r] = word(a, row + i * 16 + lane / 4 + 8 * (r % 2), at + 8 * (r / 2));
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
      for (int r = 0; r < 2; ++r) fb[j][r] = word(b, col + j * 8 + lane / 4, at + 8 * r);
#pragma unroll
    for (int i = 0; i < 2; ++i)
#pragma unroll
      for (int j = 0; j < 4; ++j) multiply(d[i][j], fa[i], fb[j][0], fb[j][1]);
  }
#pragma unroll
  for (int i = 0; i < 2; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j)
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const std::size_t to = static_cast<std::size_t>(row + i * 16 + lane / 4 + 8 * h) * n + col +
                               j * 8 + lane % 4 * 2;
        *reinterpret_cast<__nv_bfloat162*>(c + to) =
            __floats2bfloat162_rn(d[i][j][2 * h], d[i][j][2 * h + 1]);
      }
}

// --- attention ---

// O (rows x 64) = softmax(Q K^T) V for one head per blockIdx.y: Q and K are
// heads * length x 64, `v` is 64 * heads x length, that is, V transposed. Each
// consumer warpgroup processes 64 rows of Q. A producer warp keeps a ring of
// tiles of K and V full.
template <int Consumers, int Stages>
__global__ void __launch_bounds__((Consumers + 1) * 128, 1)
    attention(const __grid_constant__ CUtensorMap q, const __grid_constant__ CUtensorMap keys,
              const __grid_constant__ CUtensorMap v, __nv_bfloat16* o, int length) {
  constexpr int tile_keys = 64;
  constexpr unsigned tile_bytes = 64 * row_bytes;
  extern __shared__ __align__(1024) unsigned char tiles[];
  __shared__ __align__(8) unsigned long long words[2 * Stages + 1];
  const unsigned base = (shared_address(tiles) + 1023) & ~1023u;
  const auto full = [&](int s) { return shared_address(words + s); };
  const auto empty = [&](int s) { return shared_address(words + Stages + s); };
  const unsigned loaded_q = shared_address(words + 2 * Stages);
  const auto stage_at = [&](int s) { return base + (Consumers + 2 * s) * tile_bytes; };
  if (threadIdx.x == 0) {
    for (int s = 0; s < Stages; ++s) {
      init_barrier(full(s), 1);
      init_barrier(empty(s), Consumers);
    }
    init_barrier(loaded_q, 1);
    fence_init();
  }
  __syncthreads();
  const int warpgroup = threadIdx.x / 128, head = static_cast<int>(blockIdx.y);
  const int row = head * length + static_cast<int>(blockIdx.x) * Consumers * 64;
  int stage = 0, phase = 0;
  const auto next = [&] {
    if (++stage == Stages) {
      stage = 0;
      phase ^= 1;
    }
  };
  if (warpgroup == Consumers) {
    if (threadIdx.x % 128 != 0) return;
    expect_bytes(loaded_q, Consumers * tile_bytes);
    for (int w = 0; w < Consumers; ++w)
      load_box(base + w * tile_bytes, q, 0, row + 64 * w, loaded_q);
    for (int from = 0; from < length; from += tile_keys, next()) {
      wait_for(empty(stage), phase ^ 1);
      expect_bytes(full(stage), 2 * tile_bytes);
      load_box(stage_at(stage), keys, 0, head * length + from, full(stage));
      load_box(stage_at(stage) + tile_bytes, v, from, head * 64, full(stage));
    }
    return;
  }
  float out[32] = {}, most[2] = {-1e30f, -1e30f}, sum[2] = {};
  wait_for(loaded_q, 0);
  for (int from = 0; from < length; from += tile_keys, next()) {
    wait_for(full(stage), phase);
    float s[32] = {};
    products_begin();
    multiply_tile<64>(s, base + warpgroup * tile_bytes, stage_at(stage));
    products_commit();
    products_wait<0>();
    unsigned p[4][4];
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      float top = most[h];
#pragma unroll
      for (int i = 0; i < 32; i += 4) top = fmaxf(top, fmaxf(s[i + 2 * h], s[i + 2 * h + 1]));
      top = fmaxf(top, __shfl_xor_sync(~0u, top, 1));
      top = fmaxf(top, __shfl_xor_sync(~0u, top, 2));
      const float scale = exp2f(most[h] - top);
      most[h] = top;
      sum[h] *= scale;
#pragma unroll
      for (int i = 0; i < 32; i += 4) {
        out[i + 2 * h] *= scale;
        out[i + 2 * h + 1] *= scale;
        const float x = exp2f(s[i + 2 * h] - top), y = exp2f(s[i + 2 * h + 1] - top);
        sum[h] += x + y;
        const __nv_bfloat162 both = __floats2bfloat162_rn(x, y);
        p[i / 8][i / 4 % 2 * 2 + h] = *reinterpret_cast<const unsigned*>(&both);
      }
    }
    products_begin();
    const std::uint64_t v_tile = tile_descriptor(stage_at(stage) + tile_bytes);
#pragma unroll
    for (int i = 0; i < 4; ++i) product<64>::of_registers(out, p[i], v_tile + 2 * i, 1);
    products_commit();
    products_wait<0>();
    if (threadIdx.x % 128 == 0) arrive(empty(stage));
  }
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    sum[h] += __shfl_xor_sync(~0u, sum[h], 1);
    sum[h] += __shfl_xor_sync(~0u, sum[h], 2);
#pragma unroll
    for (int i = 0; i < 32; i += 4) {
      out[i + 2 * h] /= sum[h];
      out[i + 2 * h + 1] /= sum[h];
    }
  }
  store_tile<64>(o, 64, row + warpgroup * 64, 0, out);
}

}  // namespace stepwise::hopper
