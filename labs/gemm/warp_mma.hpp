// Given: the tensor-core instructions of a warp, on compute capability 8.0 and later.
//
// idea    wmma hides which registers hold which elements of a fragment. mma.sync has a documented
//         layout, so a kernel can place its fragments itself: ldmatrix reads 8 x 8 matrices whose
//         rows are 16 bytes of shared memory, and the sums can be stored from their registers. In
//         the layout below, `lane` is threadIdx.x % 32.
// source  PTX ISA 9.1, "Matrix fragments for mma.m16n8k16" and "ldmatrix"
#pragma once

#include <cuda_bf16.h>

// A 16 x 16 fragment of a: element pairs of row lane / 4 + 8 * (i % 2) at column
// 2 * (lane % 4) + 8 * (i / 2), for i = 0 to 3.
struct fragment_a {
  unsigned pairs[4];
};

// Two 16 x 8 fragments of b, side by side: 16 rows (k), 16 columns. pairs[2 * j] and
// pairs[2 * j + 1] are the upper and the lower 8 rows of fragment j.
struct fragment_b {
  unsigned pairs[4];
};

// 16 x 8 sums: element i of a thread is in row lane / 4 + 8 * (i / 2), column
// 2 * (lane % 4) + i % 2.
struct fragment_c {
  float sums[4];
};

// The 32-bit address of shared memory that PTX instructions take.
__device__ inline unsigned shared_address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

// Loads a fragment of a. Lane l passes the address of the 16 bytes at row l % 16 and column
// 8 * (l / 16) of the fragment.
__device__ inline void load_fragment(fragment_a& f, const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(f.pairs[0]), "=r"(f.pairs[1]), "=r"(f.pairs[2]), "=r"(f.pairs[3])
               : "r"(shared_address(row))
               : "memory");
}

// Loads two fragments of b, whose rows (k) lie in shared memory as in global memory: .trans
// exchanges rows and columns on the way. Lane l passes the address of the 16 bytes at row l % 16
// and column 8 * (l / 16).
__device__ inline void load_fragment(fragment_b& f, const void* row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(f.pairs[0]), "=r"(f.pairs[1]), "=r"(f.pairs[2]), "=r"(f.pairs[3])
               : "r"(shared_address(row))
               : "memory");
}

// c += a * b, for the fragment of b with the given number, 0 or 1.
__device__ inline void multiply_add(fragment_c& c, const fragment_a& a, const fragment_b& b,
                                    int number) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c.sums[0]), "+f"(c.sums[1]), "+f"(c.sums[2]), "+f"(c.sums[3])
      : "r"(a.pairs[0]), "r"(a.pairs[1]), "r"(a.pairs[2]), "r"(a.pairs[3]),
        "r"(b.pairs[2 * number]), "r"(b.pairs[2 * number + 1]));
}
