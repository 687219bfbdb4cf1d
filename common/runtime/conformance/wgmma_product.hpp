// One wgmma instruction at a time: the kernel, the images of its operands in shared memory, and the
// product that is expected.
//
// idea    The accumulators are registers of the assembly block itself, because C++ cannot name a
//         varying number of them. The host lays the operands out in an image of shared memory, by
//         the formulas of PTX's canonical layouts, and gives the descriptors without the address.
// source  PTX ISA 9.1, "Asynchronous warpgroup-level matrix operation".
#pragma once

#include <cstdint>
#include <cstring>

#include "common/emulator/tests/programs/program.hpp"

constexpr int warpgroup_threads = 128, rows = 64, line_bytes = 32;

// The layout of an operand in shared memory: lines of 32 bytes along k, or, if it is MN-major,
// lines along m or n. `pattern` is the width of the swizzle pattern in bytes, or 0.
struct operand_layout {
  int pattern = 0;
  bool is_mn_major = false;
  int step = 0;  // K-major, swizzled: which 32 bytes of the pattern's width hold the operand

  // Bytes between groups of eight lines, and between patterns or core matrices along a line.
  int leading = 128, stride = 256;

  // The offset of element (line, k), of `bytes` bytes.
  int offset(int line, int k, int bytes) const {
    int at;
    if (!is_mn_major && pattern == 0) {
      at = line / 8 * stride + line % 8 * 16 + k * bytes / 16 * leading + k * bytes % 16;
    } else if (!is_mn_major) {
      at = line / 8 * stride + line % 8 * pattern + step * line_bytes + k * bytes;
    } else if (pattern == 0) {
      at = line / 8 * stride + k % 8 * 16 + k / 8 * leading + line % 8 * bytes;
    } else {
      at = line * bytes % pattern + line * bytes / pattern * leading + k % 8 * pattern +
           k / 8 * stride;
    }
    const int chunks = pattern / 16;
    return pattern == 0 ? at : at ^ (at >> 7 & (chunks - 1)) << 4;
  }
  // The descriptor of an operand at address 0.
  std::uint64_t descriptor() const {
    const std::uint64_t mode = pattern == 128 ? 1 : pattern == 64 ? 2 : pattern == 32 ? 3 : 0;
    const int start = is_mn_major || pattern == 0 ? 0 : step * line_bytes;
    return static_cast<std::uint64_t>(start >> 4) | static_cast<std::uint64_t>(leading >> 4) << 16 |
           static_cast<std::uint64_t>(stride >> 4) << 32 | mode << 62;
  }
};

// K-major layouts, swizzled or not.
inline operand_layout k_major(int pattern, int step = 0) {
  return {pattern, false, step, pattern == 0 ? 128 : 16, pattern == 0 ? 256 : 8 * pattern};
}
// MN-major layouts of `lines` lines of 16-bit elements.
inline operand_layout mn_major(int pattern, int lines) {
  if (pattern == 0) return {0, true, 0, lines / 8 * 128, 128};
  // Patterns along m or n follow one another; each holds 8 values of k.
  return {pattern, true, 0, 16 * pattern, 8 * pattern};
}

// The arguments of one product, in device memory.
struct product_arguments {
  const std::uint8_t* image;  // of shared memory: A from 0 on, B from b_offset on
  int image_bytes, b_offset;
  std::uint64_t a_descriptor, b_descriptor;
  const std::uint32_t* a_registers;  // [register][thread]
  const std::uint32_t* before;       // D before, [thread][register]
  std::uint32_t* after;
  int adds;  // scale-d
};

// Copies the image, and returns the descriptors of the operands in this block's shared memory.
__device__ inline std::uint64_t load_image(const product_arguments& a, std::uint64_t& b) {
  extern __shared__ __align__(1024) std::uint8_t tile[];
  for (int i = threadIdx.x; i < a.image_bytes; i += warpgroup_threads) tile[i] = a.image[i];
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  const auto base = static_cast<std::uint64_t>(__cvta_generic_to_shared(tile));
  b = a.b_descriptor + ((base + static_cast<std::uint64_t>(a.b_offset)) >> 4);
  return a.a_descriptor + (base >> 4);
}

// Four registers at a time, for loads and stores.
#define QUAD(access, o, a, b, c, d) access(o, "d" #a ", d" #b ", d" #c ", d" #d)
#define LOAD4(o, list) "ld.global.v4.b32 {" list "}, [%0+" #o "];\n"
#define STORE4(o, list) "st.global.v4.b32 [%1+" #o "], {" list "};\n"
// clang-format off
#define MOVE4(x) QUAD(x, 0, 0, 1, 2, 3)
#define MOVE8(x) MOVE4(x) QUAD(x, 16, 4, 5, 6, 7)
#define MOVE12(x) MOVE8(x) QUAD(x, 32, 8, 9, 10, 11)
#define MOVE16(x) MOVE12(x) QUAD(x, 48, 12, 13, 14, 15)
#define MOVE32(x)                                                                     \
  MOVE16(x)                                                                           \
  QUAD(x, 64, 16, 17, 18, 19) QUAD(x, 80, 20, 21, 22, 23) QUAD(x, 96, 24, 25, 26, 27) \
      QUAD(x, 112, 28, 29, 30, 31)
#define MOVE64(x)                                                                            \
  MOVE32(x)                                                                                  \
  QUAD(x, 128, 32, 33, 34, 35) QUAD(x, 144, 36, 37, 38, 39) QUAD(x, 160, 40, 41, 42, 43)     \
      QUAD(x, 176, 44, 45, 46, 47) QUAD(x, 192, 48, 49, 50, 51) QUAD(x, 208, 52, 53, 54, 55) \
          QUAD(x, 224, 56, 57, 58, 59) QUAD(x, 240, 60, 61, 62, 63)
#define MOVE128(x)                                                                               \
  MOVE64(x)                                                                                      \
  QUAD(x, 256, 64, 65, 66, 67) QUAD(x, 272, 68, 69, 70, 71) QUAD(x, 288, 72, 73, 74, 75)         \
      QUAD(x, 304, 76, 77, 78, 79) QUAD(x, 320, 80, 81, 82, 83) QUAD(x, 336, 84, 85, 86, 87)     \
          QUAD(x, 352, 88, 89, 90, 91) QUAD(x, 368, 92, 93, 94, 95) QUAD(x, 384, 96, 97, 98, 99) \
              QUAD(x, 400, 100, 101, 102, 103) QUAD(x, 416, 104, 105, 106, 107)                  \
                  QUAD(x, 432, 108, 109, 110, 111) QUAD(x, 448, 112, 113, 114, 115)              \
                      QUAD(x, 464, 116, 117, 118, 119) QUAD(x, 480, 120, 121, 122, 123)          \
                          QUAD(x, 496, 124, 125, 126, 127)
#define NAMES4 "d0, d1, d2, d3"
#define NAMES8 NAMES4 ", d4, d5, d6, d7"
#define NAMES12 NAMES8 ", d8, d9, d10, d11"
#define NAMES16 NAMES12 ", d12, d13, d14, d15"
#define NAMES32 \
  NAMES16 ", d16, d17, d18, d19, d20, d21, d22, d23, d24, d25, d26, d27, d28, d29, d30, d31"
#define NAMES64                                                                          \
  NAMES32                                                                                \
      ", d32, d33, d34, d35, d36, d37, d38, d39, d40, d41, d42, d43, d44, d45, d46, d47" \
      ", d48, d49, d50, d51, d52, d53, d54, d55, d56, d57, d58, d59, d60, d61, d62, d63"
#define NAMES128                                                                         \
  NAMES64                                                                                \
      ", d64, d65, d66, d67, d68, d69, d70, d71, d72, d73, d74, d75, d76, d77, d78, d79" \
      ", d80, d81, d82, d83, d84, d85, d86, d87, d88, d89, d90, d91, d92, d93, d94, d95" \
      ", d96, d97, d98, d99, d100, d101, d102, d103, d104, d105, d106, d107, d108, d109" \
      ", d110, d111, d112, d113, d114, d115, d116, d117, d118, d119, d120, d121, d122"   \
      ", d123, d124, d125, d126, d127"
// clang-format on

// A kernel `name` that executes wgmma.mma_async.sync.aligned.FORM, with `count` registers of `type`
// per thread. `a` is "%2" or "{a0, a1, a2, a3}"; `flags` are the immediates after scale-d.
#define WGMMA_KERNEL(name, form, count, type, a, flags)                                           \
  __global__ void name(const __grid_constant__ product_arguments p) {                             \
    std::uint64_t b_descriptor;                                                                   \
    const std::uint64_t a_descriptor = load_image(p, b_descriptor);                               \
    const std::uint32_t* const before = p.before + threadIdx.x * count;                           \
    std::uint32_t* const after = p.after + threadIdx.x * count;                                   \
    std::uint32_t r[4];                                                                           \
    for (int i = 0; i < 4; ++i) r[i] = p.a_registers[i * warpgroup_threads + threadIdx.x];        \
    asm volatile("{\n"                                                                          \
                 ".reg .pred adds;\n"                                                           \
                 ".reg ." type " d<" #count ">;\n"                                              \
                 ".reg .b32 a<4>;\n"                                                            \
                 "mov.b32 a0, %5; mov.b32 a1, %6; mov.b32 a2, %7; mov.b32 a3, %8;\n"            \
                 MOVE##count(LOAD4)                                                             \
                 "setp.ne.b32 adds, %4, 0;\n"                                                   \
                 "wgmma.fence.sync.aligned;\n"                                                  \
                 "wgmma.mma_async.sync.aligned." form " {" NAMES##count "}, " a                 \
                 ", %3, adds" flags ";\n"                                                       \
                 "wgmma.commit_group.sync.aligned;\n"                                           \
                 "wgmma.wait_group.sync.aligned 0;\n"                                           \
                 MOVE##count(STORE4)                                                            \
                 "}\n" ::"l"(before), "l"(after), "l"(a_descriptor), "l"(b_descriptor),         \
                 "r"(p.adds), "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3])                        \
                 : "memory"); \
  }
