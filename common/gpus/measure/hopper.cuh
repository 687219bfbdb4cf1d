// Hopper's asynchronous instructions as functions: mbarriers, bulk and tensor
// copies, clusters, and wgmma with bf16 operands. Microbenchmarks use them, and
// so do the kernels that test the time model.
//
// source  PTX ISA 9.1, sections 9.7.9.25 (bulk copies), 9.7.9.27 (tensor
//         copies), 9.7.13 (mbarriers, clusters), 9.7.15 (wgmma)
#pragma once

#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdint>

namespace stepwise::hopper {

__device__ inline unsigned shared_address(const void* at) {
  return static_cast<unsigned>(__cvta_generic_to_shared(at));
}

// --- mbarriers, by their shared addresses ---

__device__ inline void init_barrier(unsigned barrier, unsigned arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}
// Makes initialised barriers visible to the cluster and to copies.
__device__ inline void fence_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ inline void fence_proxy() { asm volatile("fence.proxy.async;" ::: "memory"); }
__device__ inline void expect_bytes(unsigned barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}
__device__ inline void arrive(unsigned barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}
// Arrives at the barrier at the same offset in block `rank` of the cluster.
__device__ inline void arrive_remote(unsigned barrier, unsigned rank) {
  asm volatile(
      "{ .reg .b32 there;\n"
      "  mapa.shared::cluster.u32 there, %0, %1;\n"
      "  mbarrier.arrive.release.cluster.shared::cluster.b64 _, [there]; }" ::"r"(barrier),
      "r"(rank)
      : "memory");
}
__device__ inline void wait_for(unsigned barrier, unsigned parity) {
  asm volatile(
      "{ .reg .pred done;\n"
      "again:\n"
      "  mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "  @!done bra again; }" ::"r"(barrier),
      "r"(parity)
      : "memory");
}
__device__ inline void named_barrier(unsigned id, unsigned threads) {
  asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

// --- clusters ---

__device__ inline unsigned cluster_rank() {
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
__device__ inline void cluster_arrive() { asm volatile("barrier.cluster.arrive;" ::: "memory"); }
__device__ inline void cluster_wait() { asm volatile("barrier.cluster.wait;" ::: "memory"); }
__device__ inline void cluster_sync() {
  cluster_arrive();
  cluster_wait();
}
__device__ inline unsigned map_shared(unsigned own, unsigned rank) {
  unsigned at;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at) : "r"(own), "r"(rank));
  return at;
}
__device__ inline unsigned load_cluster(unsigned at) {
  unsigned value;
  asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(at) : "memory");
  return value;
}
__device__ inline uint4 load_cluster4(unsigned at) {
  uint4 v;
  asm volatile("ld.shared::cluster.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
               : "r"(at)
               : "memory");
  return v;
}
__device__ inline void store_cluster4(unsigned at, uint4 v) {
  asm volatile("st.shared::cluster.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(at), "r"(v.x), "r"(v.y),
               "r"(v.z), "r"(v.w)
               : "memory");
}
__device__ inline void add_cluster(unsigned at, unsigned value) {
  asm volatile("red.relaxed.cluster.shared::cluster.add.u32 [%0], %1;" ::"r"(at), "r"(value)
               : "memory");
}

// --- copies; sizes in bytes ---

__device__ inline void load_bytes(unsigned to, const void* from, unsigned bytes, unsigned barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::"
      "bytes [%0], [%1], %2, [%3];" ::"r"(to),
      "l"(from), "r"(bytes), "r"(barrier)
      : "memory");
}
// Copies to another block's shared memory. `to` and the barrier are in that
// block.
__device__ inline void send_bytes(unsigned to, unsigned from, unsigned bytes, unsigned barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes "
      "[%0], [%1], %2, [%3];" ::"r"(to),
      "r"(from), "r"(bytes), "r"(barrier)
      : "memory");
}
__device__ inline void store_bytes(void* to, unsigned from, unsigned bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(from),
               "r"(bytes)
               : "memory");
}
__device__ inline void add_floats(float* to, unsigned from, unsigned bytes) {
  asm volatile(
      "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 "
      "[%0], [%1], %2;" ::"l"(to),
      "r"(from), "r"(bytes)
      : "memory");
}
__device__ inline void load_box(unsigned to, const CUtensorMap& map, int x, int y,
                                unsigned barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::"
      "complete_tx::bytes "
      "[%0], [%1, {%2, %3}], [%4];" ::"r"(to),
      "l"(&map), "r"(x), "r"(y), "r"(barrier)
      : "memory");
}
// Loads a box into the blocks of the cluster whose bits are set in `mask`.
__device__ inline void load_box_for(unsigned to, const CUtensorMap& map, int x, int y,
                                    unsigned barrier, unsigned short mask) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::"
      "complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(to),
      "l"(&map), "r"(x), "r"(y), "r"(barrier), "h"(mask)
      : "memory");
}
__device__ inline void store_box(const CUtensorMap& map, int x, int y, unsigned from) {
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, "
      "{%1, %2}], [%3];" ::"l"(&map),
      "r"(x), "r"(y), "r"(from)
      : "memory");
}
__device__ inline void commit_copies() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
// Waits until at most Pending groups of this thread's copies still read shared
// memory.
template <int Pending>
__device__ void wait_for_reads() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(Pending) : "memory");
}
template <int Pending>
__device__ void wait_for_copies() {
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(Pending) : "memory");
}

// --- wgmma: D (64 x N, f32) = A (64 x 16) * B (16 x N) + D, with operands in
// bf16 ---

__device__ inline void products_begin() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ inline void products_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int Pending>
__device__ void products_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory");
}
template <int Registers>
__device__ void set_registers() {
  if constexpr (Registers >= 160)
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Registers));
  else
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Registers));
}

// The descriptor of a K-major tile with rows of 128 bytes in the 128-byte
// swizzle. The tile begins at a multiple of 1024. Add 2 for each further 16
// values of k.
__device__ inline std::uint64_t tile_descriptor(unsigned tile) {
  constexpr std::uint64_t swizzle_128 = 1ull << 62, eight_rows = 1024 >> 4;
  return swizzle_128 | eight_rows << 32 | 1ull << 16 | (tile & 0x3ffff) >> 4;
}

// Lists of registers for the assembler, and lists of accumulators as operands.
// clang-format off
#define HOPPER_D4 "%0, %1, %2, %3"
#define HOPPER_D8 HOPPER_D4 \
  ", %4, %5, %6, %7"
#define HOPPER_D16 HOPPER_D8 \
  ", %8, %9, %10, %11, %12, %13, %14, %15"
#define HOPPER_D32 HOPPER_D16 \
  ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define HOPPER_D48 HOPPER_D32 \
  ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47"
#define HOPPER_D64 HOPPER_D48 \
  ", %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define HOPPER_D96 HOPPER_D64 \
  ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79" \
  ", %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define HOPPER_D128 HOPPER_D96 \
  ", %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111" \
  ", %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define HOPPER_O4(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define HOPPER_O8(i) HOPPER_O4(i), HOPPER_O4(i + 4)
#define HOPPER_O16(i) HOPPER_O8(i), HOPPER_O8(i + 8)
#define HOPPER_O32(i) HOPPER_O16(i), HOPPER_O16(i + 16)
#define HOPPER_O48(i) HOPPER_O32(i), HOPPER_O16(i + 32)
#define HOPPER_O64(i) HOPPER_O32(i), HOPPER_O32(i + 32)
#define HOPPER_O96(i) HOPPER_O64(i), HOPPER_O32(i + 64)
#define HOPPER_O128(i) HOPPER_O64(i), HOPPER_O64(i + 64)
// clang-format on

// `adds` is 0 for D = A * B.
template <int N>
struct product;

// The operands after the accumulators: descriptors or registers of A,
// descriptor of B, `adds`.
#define HOPPER_PRODUCT(N, COUNT, P0, P1, P2, P3, P4, P5)                                        \
  template <>                                                                                   \
  struct product<N> {                                                                           \
    __device__ static void of_shared(float (&d)[COUNT], std::uint64_t a, std::uint64_t b,       \
                                     int adds) {                                                \
      asm volatile("{ .reg .pred p; setp.ne.b32 p, %" #P2                                       \
                   ", 0;\n"                                                                     \
                   "wgmma.mma_async.sync.aligned.m64n" #N "k16.f32.bf16.bf16 {" HOPPER_D##COUNT \
                   "}, %" #P0 ", %" #P1 ", p, 1, 1, 0, 0; }"                                    \
                   : HOPPER_O##COUNT(0)                                                         \
                   : "l"(a), "l"(b), "r"(adds)                                                  \
                   : "memory");                                                                 \
    }                                                                                           \
    __device__ static void of_registers(float (&d)[COUNT], const unsigned (&a)[4],              \
                                        std::uint64_t b, int adds) {                            \
      asm volatile("{ .reg .pred p; setp.ne.b32 p, %" #P5                                       \
                   ", 0;\n"                                                                     \
                   "wgmma.mma_async.sync.aligned.m64n" #N "k16.f32.bf16.bf16 {" HOPPER_D##COUNT \
                   "}, {%" #P0 ", %" #P1 ", %" #P2 ", %" #P3 "}, %" #P4 ", p, 1, 1, 0; }"       \
                   : HOPPER_O##COUNT(0)                                                         \
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(adds)              \
                   : "memory");                                                                 \
    }                                                                                           \
  };
HOPPER_PRODUCT(8, 4, 4, 5, 6, 7, 8, 9)
HOPPER_PRODUCT(16, 8, 8, 9, 10, 11, 12, 13)
HOPPER_PRODUCT(32, 16, 16, 17, 18, 19, 20, 21)
HOPPER_PRODUCT(64, 32, 32, 33, 34, 35, 36, 37)
HOPPER_PRODUCT(96, 48, 48, 49, 50, 51, 52, 53)
HOPPER_PRODUCT(128, 64, 64, 65, 66, 67, 68, 69)
HOPPER_PRODUCT(192, 96, 96, 97, 98, 99, 100, 101)
HOPPER_PRODUCT(256, 128, 128, 129, 130, 131, 132, 133)

// --- on the host ---

// A map of a row-major matrix of bf16 values, for boxes of box_rows x box_cols
// elements. If a row of the box has 32, 64 or 128 bytes, the swizzle has the
// same width. Returns whether the driver accepts the map.
inline bool encode_map(CUtensorMap& map, const void* matrix, std::uint64_t rows, std::uint64_t cols,
                       unsigned box_rows, unsigned box_cols, bool swizzled = true) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult outcome{};
  if (cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &found, 12000, cudaEnableDefault,
                                       &outcome) != cudaSuccess ||
      found == nullptr)
    return false;
  const auto encode = reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(found);
  const std::uint64_t sizes[2] = {cols, rows}, strides[1] = {cols * 2};
  const std::uint32_t box[2] = {box_cols, box_rows}, steps[2] = {1, 1};
  const CUtensorMapSwizzle swizzle = !swizzled        ? CU_TENSOR_MAP_SWIZZLE_NONE
                                     : box_cols == 64 ? CU_TENSOR_MAP_SWIZZLE_128B
                                     : box_cols == 32 ? CU_TENSOR_MAP_SWIZZLE_64B
                                     : box_cols == 16 ? CU_TENSOR_MAP_SWIZZLE_32B
                                                      : CU_TENSOR_MAP_SWIZZLE_NONE;
  return encode(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, const_cast<void*>(matrix), sizes,
                strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
                CU_TENSOR_MAP_L2_PROMOTION_L2_128B,
                CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}

}  // namespace stepwise::hopper
