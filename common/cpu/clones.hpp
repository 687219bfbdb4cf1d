// STEPWISE_CLONES before a function compiles it for AVX-512, for AVX2 with FMA, and for any x86-64;
// the loader picks one. A program that is copied to another machine therefore runs there, and uses
// that machine's instruction set.
//
// watch   This covers only the function itself and what is inlined into it, not a lambda that
//         another function calls. std::fmaf is one instruction in the first two versions, and a
//         slow call elsewhere.
// source  GCC's manual, "Common Function Attributes", target_clones; x86-64-v3 and -v4 are levels
//         of the x86-64 psABI.
#pragma once

// Sanitizers do not work with functions that the loader picks. Before GCC 12, levels had no names.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(__clang__)
#define STEPWISE_CLONES
#elif __GNUC__ >= 12
#define STEPWISE_CLONES \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define STEPWISE_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#endif
