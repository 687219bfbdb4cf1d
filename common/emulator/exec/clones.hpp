// STEPWISE_CLONES before a function: it is compiled for several instruction sets, and the loader
// picks one. For a few hot loops; what executes PTX is compiled in whole files (meson.build).
#pragma once

// Sanitizers cannot live with functions that the loader picks.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(__clang__)
#define STEPWISE_CLONES
#else
#define STEPWISE_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#endif
