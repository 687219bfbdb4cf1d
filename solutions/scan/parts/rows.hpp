// Rows of 32 vectors of four elements: loads, scans and stores of a warp.
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

// Scans the rows of a warp, one after the other: v[k] is a lane's vector of row k. Returns the sum
// of all rows. All lanes take part.
template <int Rows>
__device__ unsigned scan_rows(uint4 (&v)[Rows]) {
  unsigned sum = 0;  // of the rows so far
  for (int k = 0; k < Rows; ++k) {
    v[k].y += v[k].x;
    v[k].z += v[k].y;
    v[k].w += v[k].z;
    const unsigned through = warp_scan(v[k].w);
    v[k] = add_to_all(v[k], sum + through - v[k].w);
    sum += __shfl_sync(0xffffffff, through, 31);
  }
  return sum;
}
