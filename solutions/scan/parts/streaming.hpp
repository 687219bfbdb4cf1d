// Loads and stores of vectors that are used only once.
#pragma once

#include "solutions/scan/parts/vectors.hpp"

// Like load_vector() and store_vector(), with hints that the vector is used only once.
__device__ uint4 load_streaming(const unsigned* in, unsigned i, int n) {
  return i + 3 < n ? __ldcs(reinterpret_cast<const uint4*>(in + i)) : load_vector(in, i, n);
}

__device__ void store_streaming(unsigned* out, unsigned i, uint4 v, int n) {
  if (i + 3 < n)
    __stcs(reinterpret_cast<uint4*>(out + i), v);
  else
    store_vector(out, i, v, n);
}
