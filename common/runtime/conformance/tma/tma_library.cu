// Tensor copies through the functions of libcu++: cuda::device::experimental with a cuda::barrier,
// and cuda::ptx. A kernel transposes a plane tile by tile.
#include <cuda/barrier>
#include <cuda/ptx>

#include "tma/tensor_shape.hpp"

namespace cde = cuda::device::experimental;
using block_barrier = cuda::barrier<cuda::thread_scope_block>;

constexpr int tile = 32, rows = 70, cols = 100, threads = 128;

__global__ void transpose(const __grid_constant__ CUtensorMap in,
                          const __grid_constant__ CUtensorMap out) {
  __shared__ alignas(128) int loaded[tile][tile];
  __shared__ alignas(128) int turned[tile][tile];
  __shared__ alignas(block_barrier) std::byte storage[sizeof(block_barrier)];
  block_barrier& bar = *reinterpret_cast<block_barrier*>(storage);
  const int x = static_cast<int>(blockIdx.x) * tile, y = static_cast<int>(blockIdx.y) * tile;
  if (threadIdx.x == 0) {
    init(&bar, threads);
    cde::fence_proxy_async_shared_cta();
  }
  __syncthreads();
  block_barrier::arrival_token token;
  if (threadIdx.x == 0) {
    cde::cp_async_bulk_tensor_2d_global_to_shared(&loaded, &in, x, y, bar);
    token = cuda::device::barrier_arrive_tx(bar, 1, sizeof loaded);
  } else {
    token = bar.arrive();
  }
  bar.wait(std::move(token));
  for (int i = threadIdx.x; i < tile * tile; i += threads)
    turned[i / tile][i % tile] = loaded[i % tile][i / tile];
  cde::fence_proxy_async_shared_cta();
  __syncthreads();
  if (threadIdx.x != 0) return;
  cde::cp_async_bulk_tensor_2d_shared_to_global(&out, y, x, &turned);
  cde::cp_async_bulk_commit_group();
  cde::cp_async_bulk_wait_group_read<0>();
}

// The same loads by cuda::ptx, with an mbarrier that threads wait for by parity; sums are added.
__global__ void add(const __grid_constant__ CUtensorMap in,
                    const __grid_constant__ CUtensorMap out) {
  namespace ptx = cuda::ptx;
  __shared__ alignas(128) int box[tile][tile];
  __shared__ std::uint64_t barrier;
  const int at[2] = {static_cast<int>(blockIdx.x) * tile, static_cast<int>(blockIdx.y) * tile};
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&barrier, 1);
    ptx::fence_proxy_async(ptx::space_shared);
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &barrier,
                                   sizeof box);
    ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, &box, &in, at, &barrier);
  }
  __syncthreads();
  while (!ptx::mbarrier_try_wait_parity(&barrier, 0)) {
  }
  if (threadIdx.x != 0) return;
  ptx::cp_reduce_async_bulk_tensor(ptx::space_global, ptx::space_shared, ptx::op_add, &out, at,
                                   &box);
  ptx::cp_async_bulk_commit_group();
  ptx::cp_async_bulk_wait_group(ptx::n32_t<0>{});
}

int main() {
  constexpr auto s32 = CU_TENSOR_MAP_DATA_TYPE_INT32;
  const tensor_shape plane{s32, 4, {cols, rows}, {tile, tile}};
  const tensor_shape turned{s32, 4, {rows, cols}, {tile, tile}};
  const int turned_pitch = static_cast<int>(turned.stride(1) / 4);
  std::vector<int> values(rows * cols), expected(turned_pitch * cols, 0), twice(rows * cols);
  for (int y = 0; y < rows; ++y) {
    for (int x = 0; x < cols; ++x) {
      values[y * cols + x] = 1000 * y + x;
      expected[x * turned_pitch + y] = 1000 * y + x;
      twice[y * cols + x] = 2000 * y + 2 * x;
    }
  }
  const device_array<int> in(values), out(expected.size()), sums(values);
  const dim3 blocks((cols + tile - 1) / tile, (rows + tile - 1) / tile);
  transpose<<<blocks, threads>>>(plane.map_of(in.get()), turned.map_of(out.get()));
  add<<<blocks, threads>>>(plane.map_of(in.get()), plane.map_of(sums.get()));
  finish();
  return compare("transposed by tiles", out.values(), expected) |
         compare("added by tiles", sums.values(), twice);
}
