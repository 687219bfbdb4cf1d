// Hopper's asynchronous units in inline PTX, for the programs in faulty/units and correct/units:
// mbarriers, bulk copies, tensor maps and wgmma.
//
// idea    Each function wraps a single operation, so a program still shows every fence, commit and
//         wait that it needs. Pointers to shared memory point to the memory of the thread's block.
// source  PTX ISA 9.1: "Parallel Synchronization and Communication Instructions: mbarrier", "Data
//         Movement and Conversion Instructions: Bulk copy", "Asynchronous Warpgroup Level Matrix".
#pragma once

#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdlib>
#include <vector>

using mbarrier = std::uint64_t;

// --- arrays on the device ---

// A new array with value(i) as element i.
template <class T, class F>
T* make_array(int count, F value) {
  std::vector<T> host(count);
  for (int i = 0; i < count; ++i) host[i] = value(i);
  T* made = nullptr;
  cudaMalloc(&made, count * sizeof(T));
  cudaMemcpy(made, host.data(), count * sizeof(T), cudaMemcpyHostToDevice);
  return made;
}
// Whether element i is value(i), after all launches.
template <class T, class F>
bool holds(const T* array, int count, F value) {
  std::vector<T> host(count);
  if (cudaMemcpy(host.data(), array, count * sizeof(T), cudaMemcpyDeviceToHost) != cudaSuccess)
    return false;
  for (int i = 0; i < count; ++i)
    if (host[i] != value(i)) return false;
  return true;
}

// --- addresses of shared memory ---

__device__ inline unsigned shared_address(const void* at) {
  return static_cast<unsigned>(__cvta_generic_to_shared(at));
}
// The address of the same variable in another block of the cluster.
__device__ inline unsigned in_block(const void* own, unsigned rank) {
  unsigned at;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
               : "=r"(at)
               : "r"(shared_address(own)), "r"(rank));
  return at;
}

// --- mbarriers ---

__device__ inline void init_barrier(mbarrier* barrier, unsigned arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)),
               "r"(arrivals)
               : "memory");
}
// Makes the mbarriers that this thread has initialised visible to copies and to other blocks.
__device__ inline void fence_barrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ inline void arrive(mbarrier* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier))
               : "memory");
}
__device__ inline void arrive_in_block(mbarrier* barrier, unsigned rank) {
  asm volatile(
      "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(in_block(barrier, rank))
      : "memory");
}
// Arrives, and raises the number of bytes that the phase waits for.
__device__ inline void arrive_and_expect(mbarrier* barrier, unsigned bytes) {
  asm volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
      "r"(bytes)
      : "memory");
}
// Waits until the phase with this parity is complete.
__device__ inline void wait_for_phase(const mbarrier* barrier, unsigned parity) {
  asm volatile(
      "{ .reg .pred done;\n"
      "again:\n"
      "  mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1;\n"
      "  @!done bra again; }" ::"r"(shared_address(barrier)),
      "r"(parity)
      : "memory");
}

// --- bulk copies ---

// Orders accesses by instructions before accesses by copies and wgmma, in shared and global memory.
__device__ inline void fence_proxy_async() { asm volatile("fence.proxy.async;" ::: "memory"); }

__device__ inline void load_bytes(void* to, const void* from, unsigned bytes, mbarrier* barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(shared_address(to)),
      "l"(from), "r"(bytes), "r"(shared_address(barrier))
      : "memory");
}
// Copies to the same place in each block of the mask, and counts the bytes at each block's
// mbarrier.
__device__ inline void load_bytes_to_all(void* to, const void* from, unsigned bytes,
                                         mbarrier* barrier, unsigned short mask) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster"
      " [%0], [%1], %2, [%3], %4;" ::"r"(shared_address(to)),
      "l"(from), "r"(bytes), "r"(shared_address(barrier)), "h"(mask)
      : "memory");
}
__device__ inline void store_bytes(void* to, const void* from, unsigned bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to),
               "r"(shared_address(from)), "r"(bytes)
               : "memory");
}
__device__ inline void commit_stores() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
// Waits until at most `Pending` of this thread's groups may still be reading their sources.
template <int Pending>
__device__ void wait_for_reads() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(Pending) : "memory");
}

// --- two-dimensional tensor copies; x counts elements along a row ---

__device__ inline void load_box(void* to, const CUtensorMap* map, int x, int y, mbarrier* barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(to)),
      "l"(map), "r"(x), "r"(y), "r"(shared_address(barrier))
      : "memory");
}
__device__ inline void store_box(const CUtensorMap* map, int x, int y, const void* from) {
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map),
      "r"(x), "r"(y), "r"(shared_address(from))
      : "memory");
}

// The driver's function that encodes tensor maps. Programs link to the runtime only.
inline auto encode_function() {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult outcome{};
  if (cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault,
                                       &outcome) != cudaSuccess ||
      found == nullptr)
    std::exit(1);
  return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(found);
}
// A map of a dense matrix. The length of a row must be a multiple of 16 bytes.
inline CUtensorMap map_of(void* matrix, CUtensorMapDataType type, unsigned element_bytes,
                          unsigned width, unsigned height, unsigned box_width, unsigned box_height,
                          CUtensorMapSwizzle swizzle = CU_TENSOR_MAP_SWIZZLE_NONE) {
  const cuuint64_t sizes[] = {width, height}, strides[] = {cuuint64_t{width} * element_bytes};
  const cuuint32_t box[] = {box_width, box_height}, steps[] = {1, 1};
  CUtensorMap map;
  if (encode_function()(&map, type, 2, matrix, sizes, strides, box, steps,
                        CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                        CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) != CUDA_SUCCESS)
    std::exit(1);
  return map;
}

// --- wgmma ---

constexpr int warpgroup = 128;  // threads

// A of m64n8k16 has 64 rows of 16 elements along k; B has 8.
using wgmma_a = __nv_bfloat16[64 * 16];
using wgmma_b = __nv_bfloat16[8 * 16];

// The descriptor of such an operand, which is K-major and not swizzled. A core matrix has 8 x 8
// elements, or 128 bytes. The two core matrices along k are adjacent.
__device__ inline std::uint64_t describe(const __nv_bfloat16* operand) {
  constexpr std::uint64_t leading = 128, stride = 256;
  return shared_address(operand) >> 4 | leading >> 4 << 16 | stride >> 4 << 32;
}
// The accumulators are operands, so the compiler sets them before the fence.
__device__ inline void wgmma_fence(float (&d)[4]) {
  asm volatile("wgmma.fence.sync.aligned;"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               :
               : "memory");
}
__device__ inline void wgmma_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int Pending>
__device__ void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory");
}
// D += A B, where D has 64 x 8 elements, four per thread.
__device__ inline void multiply(float (&d)[4], std::uint64_t a, std::uint64_t b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 "
      "{%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "l"(a), "l"(b)
      : "memory");
}
// Thread t of `threads` stores its elements of D at t, t + threads, ...
__device__ inline void store_sums(float* out, int threads, const float (&d)[4]) {
  for (int i = 0; i < 4; ++i) out[i * threads + threadIdx.x] = d[i];
}
