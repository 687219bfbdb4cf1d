// Vectors of four elements: loads, stores and sums.
#pragma once

// The vector that begins at element i, with 0 for elements that do not exist.
__device__ uint4 load_vector(const unsigned* in, unsigned i, int n) {
  if (i + 3 < n) return *reinterpret_cast<const uint4*>(in + i);
  return {i < n ? in[i] : 0, i + 1 < n ? in[i + 1] : 0, i + 2 < n ? in[i + 2] : 0, 0};
}

__device__ void store_vector(unsigned* out, unsigned i, uint4 v, int n) {
  if (i + 3 < n) {
    *reinterpret_cast<uint4*>(out + i) = v;
    return;
  }
  if (i < n) out[i] = v.x;
  if (i + 1 < n) out[i + 1] = v.y;
  if (i + 2 < n) out[i + 2] = v.z;
}

__device__ uint4 add_to_all(uint4 v, unsigned sum) {
  return {v.x + sum, v.y + sum, v.z + sum, v.w + sum};
}
