// Given: the tensor-core instructions of a warpgroup (four warps), on compute capability 9.0.
//
// idea    wgmma reads both operands from shared memory and keeps only the sums in registers. It is
//         asynchronous: the warpgroup issues it, continues, and waits before it reads the sums. A
//         64-bit descriptor says where a tile begins and how its rows are laid out.
// watch   Threads and wgmma access shared memory through different paths, called proxies. Each
//         thread that has written to a tile executes fence_proxy() (tensor_copies.hpp), and then
//         all threads meet at a barrier before wgmma reads the tile. TMA uses the same path as
//         wgmma, so a tile that TMA has written needs no fence.
// source  PTX ISA 9.1, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Operation"
#pragma once

#include <cuda_bf16.h>

#include <cstdint>

// Bytes of a row of a tile in the 128-byte swizzle: 64 elements in 8 chunks of 16 bytes. Chunk i of
// row r is stored at chunk i ^ (r % 8), so that 8 rows of one column lie in different banks.
constexpr int swizzled_row_bytes = 128;

// A tile starts at a multiple of 1024 bytes. Addresses and distances are in units of 16 bytes.
__device__ inline std::uint64_t descriptor_of(const void* tile, int leading_bytes,
                                              int stride_bytes) {
  constexpr std::uint64_t swizzle_of_128_bytes = 1ull << 62;
  const auto address = static_cast<std::uint64_t>(__cvta_generic_to_shared(tile));
  return swizzle_of_128_bytes | std::uint64_t(stride_bytes >> 4) << 32 |
         std::uint64_t(leading_bytes >> 4) << 16 | (address & 0x3ffff) >> 4;
}

// A tile of a: rows of 64 elements along k. The stride is the distance from 8 rows to the next 8.
__device__ inline std::uint64_t descriptor_of_a(const void* tile) {
  return descriptor_of(tile, 16, 8 * swizzled_row_bytes);
}

// A tile of b: panels of 64 columns, one after the other, each with 64 rows (k) of 64 elements. The
// leading distance is that from one panel to the next, and the stride that from 8 rows to the next
// 8.
constexpr int panel_cols = 64, panel_bytes = 64 * swizzled_row_bytes;
__device__ inline std::uint64_t descriptor_of_b(const void* tile) {
  return descriptor_of(tile, panel_bytes, 8 * swizzled_row_bytes);
}

// One wgmma multiplies 16 columns of a by 16 rows of b. To advance by 16 along k, add these:
constexpr std::uint64_t next_16_of_a = 16 * sizeof(__nv_bfloat16) >> 4;
constexpr std::uint64_t next_16_of_b = 16 * swizzled_row_bytes >> 4;

// Needed before the first wgmma, and whenever other instructions have accessed the sums.
__device__ inline void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
// Makes a group of all wgmma instructions that this warpgroup has issued since the last group.
__device__ inline void wgmma_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
// Waits until at most Pending of the newest groups are unfinished.
template <int Pending>
__device__ void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory");
}

// The sums of a thread, of the 64 x Cols sums of its warpgroup: sum i is in row
// 16 * (warp % 4) + lane / 4 + 8 * (i / 2 % 2), column 8 * (i / 4) + 2 * (lane % 4) + i % 2.
template <int Cols>
using warpgroup_sums = float[Cols / 2];

// sums = a * b if `first`, else sums += a * b, for 64 x 16 elements of a and 16 x Cols of b.
template <int Cols>
__device__ void multiply_add(warpgroup_sums<Cols>& sums, std::uint64_t a, std::uint64_t b,
                             bool first);

// The assembler requires each register by name, so these macros count to 32, 64, 96 and 128.
// clang-format off
#define GEMM_NAMES_32 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define GEMM_NAMES_64 GEMM_NAMES_32 \
  ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define GEMM_NAMES_96 GEMM_NAMES_64 \
  ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
  "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define GEMM_NAMES_128 GEMM_NAMES_96 \
  ", %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, " \
  "%108, %109, %110, %111, %112, %113, %114, %115, %116, %117, %118, %119, " \
  "%120, %121, %122, %123, %124, %125, %126, %127"
#define GEMM_SUMS_4(i) "+f"(sums[i]), "+f"(sums[(i) + 1]), "+f"(sums[(i) + 2]), "+f"(sums[(i) + 3])
#define GEMM_SUMS_16(i) GEMM_SUMS_4(i), GEMM_SUMS_4((i) + 4), GEMM_SUMS_4((i) + 8), \
  GEMM_SUMS_4((i) + 12)
#define GEMM_SUMS_32(i) GEMM_SUMS_16(i), GEMM_SUMS_16((i) + 16)
#define GEMM_SUMS_64(i) GEMM_SUMS_32(i), GEMM_SUMS_32((i) + 32)
#define GEMM_SUMS_96(i) GEMM_SUMS_64(i), GEMM_SUMS_32((i) + 64)
#define GEMM_SUMS_128(i) GEMM_SUMS_64(i), GEMM_SUMS_64((i) + 64)
// The last two immediates: a lies along k in memory (0), b along its columns (1).
#define GEMM_MULTIPLY_ADD(COLS, COUNT, A, B, ADDS)                                              \
  template <>                                                                                   \
  __device__ inline void multiply_add<COLS>(float (&sums)[COUNT], std::uint64_t a,              \
                                            std::uint64_t b, bool first) {                      \
    asm volatile(                                                                               \
        "{\n.reg .pred adds;\nsetp.ne.b32 adds, %" #ADDS ", 0;\n"                               \
        "wgmma.mma_async.sync.aligned.m64n" #COLS "k16.f32.bf16.bf16 {" GEMM_NAMES_##COUNT "}, " \
        "%" #A ", %" #B ", adds, 1, 1, 0, 1;\n}"                                                \
        : GEMM_SUMS_##COUNT(0)                                                                  \
        : "l"(a), "l"(b), "r"(first ? 0 : 1)                                                    \
        : "memory");                                                                            \
  }
// clang-format on
GEMM_MULTIPLY_ADD(64, 32, 32, 33, 34)
GEMM_MULTIPLY_ADD(128, 64, 64, 65, 66)
GEMM_MULTIPLY_ADD(192, 96, 96, 97, 98)
GEMM_MULTIPLY_ADD(256, 128, 128, 129, 130)

// keep_registers() releases registers, and take_registers() waits for them and takes them: a
// warpgroup that only copies needs few, and the ones that multiply need many. All warps of the
// warpgroup must call the same function. The block's total stays the same. Give the kernel both
// arguments of __launch_bounds__(). Otherwise, the compiler may not know how many registers a
// thread starts with, and then ignores both functions.
template <int Registers>
__device__ void keep_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Registers));
}
template <int Registers>
__device__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Registers));
}

// Stores 16 x 16 sums as bfloat16 to shared memory. Lane l passes the address of the 16 bytes at
// row l % 16 and column 8 * (l / 16). `sums` are 8 sums of the thread, for 16 columns of the tile.
__device__ inline void store_matrices(void* row, const float* sums) {
  unsigned pairs[4];
  for (int i = 0; i < 4; ++i) {
    const __nv_bfloat162 pair = __floats2bfloat162_rn(sums[2 * i], sums[2 * i + 1]);
    pairs[i] = reinterpret_cast<const unsigned&>(pair);
  }
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                   static_cast<unsigned>(__cvta_generic_to_shared(row))),
               "r"(pairs[0]), "r"(pairs[1]), "r"(pairs[2]), "r"(pairs[3])
               : "memory");
}
