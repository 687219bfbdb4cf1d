// Cooperative groups, pipelines, barriers, tensor cores, textures. nvcc writes rare PTX for them.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>

namespace cg = cooperative_groups;

__global__ void groups(int* out, const int* in) {
  extern __shared__ int staged[];
  auto block = cg::this_thread_block();
  cg::memcpy_async(block, staged, in, 1024);
  cg::wait(block);
  auto tile = cg::tiled_partition<16>(block);
  int value = cg::reduce(tile, staged[threadIdx.x], cg::plus<int>());
  auto active = cg::coalesced_threads();
  value += cg::exclusive_scan(active, value);
  auto labelled = cg::labeled_partition(active, value);
  out[labelled.thread_rank()] = value;
  cg::this_grid().sync();
  auto cluster = cg::this_cluster();
  cluster.sync();
  out[0] = *cluster.map_shared_rank(staged, 0);
}

__global__ void piped(int* out, const int* in) {
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  extern __shared__ int staged[];
  auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  pipe.producer_acquire();
  cuda::memcpy_async(block, staged, in, cuda::aligned_size_t<16>(1024), pipe);
  pipe.producer_commit();
  pipe.consumer_wait();
  out[threadIdx.x] = staged[threadIdx.x];
  pipe.consumer_release();
  cuda::atomic_ref<int, cuda::thread_scope_device> counter(*out);
  counter.fetch_add(1);
  counter.fetch_max(3);
}

__global__ void waited(int* out) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  __syncthreads();
  barrier.arrive_and_wait();
  out[threadIdx.x] = 1;
}

__global__ void tensor(const half* a, const half* b, float* c) {
  using namespace nvcuda::wmma;
  fragment<matrix_a, 16, 16, 16, half, row_major> left;
  fragment<matrix_b, 16, 16, 16, half, col_major> right;
  fragment<accumulator, 16, 16, 16, float> sum;
  fill_fragment(sum, 0.0f);
  load_matrix_sync(left, a, 16);
  load_matrix_sync(right, b, 16);
  mma_sync(sum, left, right, sum);
  store_matrix_sync(c, sum, 16, mem_row_major);
}

__global__ void mixed(half2* halves, __nv_bfloat162* brains, double* out,
                      cudaTextureObject_t texture, cudaSurfaceObject_t surface, int n) {
  halves[0] = __hfma2(halves[1], halves[2], h2exp(halves[3]));
  brains[0] = __hmul2(brains[1], h2sqrt(brains[2]));
  out[0] = sin(out[1]) + pow(out[2], out[3]) + lgamma(out[4]) + erfc(out[5]);
  const float4 texel = tex2D<float4>(texture, 1.0f, 2.0f);
  surf2Dwrite(texel, surface, n, n);
  out[6] = texel.x + tex3D<float>(texture, 1, 2, 3) + tex1Dfetch<float>(texture, n);
  out[7] = tex2DLod<float2>(texture, 1, 2, 3).x +
           tex2DGrad<float>(texture, 1, 2, make_float2(1, 2), make_float2(3, 4));
  atomicAdd(halves, halves[4]);
}
