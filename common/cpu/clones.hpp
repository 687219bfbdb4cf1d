// STEPWISE_CLONES before a function: it is compiled for AVX-512, for AVX2 with FMA, and for any
// x86-64, and the loader picks one. So a program that is carried to another machine uses what is
// there, and runs on it.
//
// watch   Only the function itself, and what is inlined into it: a lambda that another function
//         calls is not. std::fmaf is one instruction in the first two; it is a slow call elsewhere.
// source  GCC's manual, "Common Function Attributes", target_clones; x86-64-v3 and -v4 are levels
//         of the x86-64 psABI.
#pragma once

// Sanitizers cannot live with functions that the loader picks; before GCC 12, levels had no names.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(__clang__)
#define STEPWISE_CLONES
#elif __GNUC__ >= 12
#define STEPWISE_CLONES \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define STEPWISE_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#endif
