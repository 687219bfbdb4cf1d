// neighbour, a beginner's mistake: the neighbour's place in the sorted order is stored.
#include <cmath>

#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/neighbour/neighbour.hpp"

struct box {
  unsigned low[3], high[3];  // ordered keys of floats
};

__device__ unsigned key(float f) {
  const unsigned u = __float_as_uint(f);
  return u & 0x80000000u ? ~u : u | 0x80000000u;
}
__device__ float value(unsigned k) {
  return __uint_as_float(k & 0x80000000u ? k & 0x7fffffffu : ~k);
}

struct grid_of {
  float lo[3], side, inverse, slack;
};

__device__ grid_of grid_from(const box* b, int cells) {
  grid_of g;
  float extent = 0, largest = 0;
  for (int d = 0; d < 3; ++d) {
    g.lo[d] = value(b->low[d]);
    const float hi = value(b->high[d]);
    extent = fmaxf(extent, hi - g.lo[d]);
    largest = fmaxf(largest, fmaxf(fabsf(hi), fabsf(g.lo[d])));
  }
  g.side = extent / cells;
  g.inverse = g.side > 1e-30f ? 1 / g.side : 0;
  g.slack = 4e-6f * (extent + largest);
  return g;
}

__device__ int cell_on(float x, float lo, float inverse, int cells) {
  return min(max(static_cast<int>((x - lo) * inverse), 0), cells - 1);
}

__global__ void clear_kernel(box* b, int* count, int all) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 3) {
    b->low[i] = 0xffffffffu;
    b->high[i] = 0;
  }
  if (i < all) count[i] = 0;
}

__global__ void box_kernel(const float* xyz, box* b, int n) {
  __shared__ unsigned low[3], high[3];
  if (threadIdx.x < 3) {
    low[threadIdx.x] = 0xffffffffu;
    high[threadIdx.x] = 0;
  }
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int d = 0; d < 3; ++d) {
    const unsigned k = i < n ? key(xyz[3 * i + d]) : 0;
    const unsigned least = __reduce_min_sync(0xffffffffu, i < n ? k : 0xffffffffu);
    const unsigned most = __reduce_max_sync(0xffffffffu, k);
    if (threadIdx.x % 32 == 0) {
      atomicMin(&low[d], least);
      atomicMax(&high[d], most);
    }
  }
  __syncthreads();
  if (threadIdx.x < 3) {
    atomicMin(&b->low[threadIdx.x], low[threadIdx.x]);
    atomicMax(&b->high[threadIdx.x], high[threadIdx.x]);
  }
}

__device__ int cell_of(const grid_of& g, float x, float y, float z, int cells) {
  return (cell_on(z, g.lo[2], g.inverse, cells) * cells + cell_on(y, g.lo[1], g.inverse, cells)) *
             cells +
         cell_on(x, g.lo[0], g.inverse, cells);
}

__global__ void count_kernel(const float* xyz, const box* b, int* count, int cells, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const grid_of g = grid_from(b, cells);
  atomicAdd(&count[cell_of(g, xyz[3 * i], xyz[3 * i + 1], xyz[3 * i + 2], cells)], 1);
}

// count[c] becomes the end of cell c - 1, which is the start of cell c. One block of 1024 threads.
__global__ void scan_kernel(int* count, int all) {
  __shared__ int sums[32];
  __shared__ int carry;
  const int t = threadIdx.x;
  if (t == 0) carry = 0;
  __syncthreads();
  for (int first = 0; first < all; first += 4096) {
    int v[4], own = 0;
    for (int q = 0; q < 4; ++q) {
      const int at = first + 4 * t + q;
      v[q] = at < all ? count[at] : 0;
      own += v[q];
    }
    int sum = own;
    for (int o = 1; o < 32; o *= 2) {
      const int other = __shfl_up_sync(0xffffffffu, sum, o);
      if (t % 32 >= o) sum += other;
    }
    if (t % 32 == 31) sums[t / 32] = sum;
    __syncthreads();
    if (t < 32) {
      int s = sums[t];
      for (int o = 1; o < 32; o *= 2) {
        const int other = __shfl_up_sync(0xffffffffu, s, o);
        if (t >= o) s += other;
      }
      sums[t] = s;
    }
    __syncthreads();
    int start = carry + (t >= 32 ? sums[t / 32 - 1] : 0) + sum - own;
    for (int q = 0; q < 4; ++q) {
      const int at = first + 4 * t + q;
      if (at < all) count[at] = start;
      start += v[q];
    }
    __syncthreads();
    if (t == 0) carry += sums[31];
    __syncthreads();
  }
}

// Afterwards, end[c] is the end of cell c and the start of cell c + 1.
__global__ void sort_kernel(const float* xyz, const box* b, int* end, float4* sorted, int cells,
                            int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const grid_of g = grid_from(b, cells);
  const float x = xyz[3 * i], y = xyz[3 * i + 1], z = xyz[3 * i + 2];
  const int place = atomicAdd(&end[cell_of(g, x, y, z, cells)], 1);
  sorted[place] = make_float4(x, y, z, __int_as_float(i));
}

__global__ void search_kernel(const box* b, const int* end, const float4* sorted, int* nearest,
                              int cells, int n) {
  const int s = blockIdx.x * blockDim.x + threadIdx.x;
  if (s >= n) return;
  const grid_of g = grid_from(b, cells);
  const float4 me = sorted[s];
  const int i = __float_as_int(me.w);
  const int cx = cell_on(me.x, g.lo[0], g.inverse, cells),
            cy = cell_on(me.y, g.lo[1], g.inverse, cells),
            cz = cell_on(me.z, g.lo[2], g.inverse, cells);
  float best = INFINITY;
  int best_j = -1;
  auto row = [&](int z, int y, int from, int to) {
    const int base = (z * cells + y) * cells;
    const int first = base + from > 0 ? end[base + from - 1] : 0, last = end[base + to];
    for (int p = first; p < last; ++p) {
      const float4 o = sorted[p];
      const int j = __float_as_int(o.w);
      const float dx = o.x - me.x, dy = o.y - me.y, dz = o.z - me.z;
      const float d = fmaf(dz, dz, fmaf(dy, dy, dx * dx));
      if (j != i && (d < best || (d == best && j < best_j))) {
        best = d;
        best_j = p;
      }
    }
  };
  for (int r = 0; r < cells; ++r) {
    for (int z = max(cz - r, 0); z <= min(cz + r, cells - 1); ++z)
      for (int y = max(cy - r, 0); y <= min(cy + r, cells - 1); ++y) {
        if (abs(z - cz) == r || abs(y - cy) == r) {
          row(z, y, max(cx - r, 0), min(cx + r, cells - 1));
        } else {
          if (cx - r >= 0) row(z, y, cx - r, cx - r);
          if (cx + r < cells) row(z, y, cx + r, cx + r);
        }
      }
    float gap = INFINITY;
    const int c[3] = {cx, cy, cz};
    const float at[3] = {me.x, me.y, me.z};
    for (int d = 0; d < 3; ++d) {
      if (c[d] - r > 0) gap = fminf(gap, at[d] - (g.lo[d] + (c[d] - r) * g.side));
      if (c[d] + r < cells - 1) gap = fminf(gap, g.lo[d] + (c[d] + r + 1) * g.side - at[d]);
    }
    gap -= g.slack;
    if (gap > 0 && best < gap * gap * 0.9999f) break;
  }
  nearest[i] = best_j;
}

void neighbour(const float* xyz, int* nearest, void* scratch, int n) {
  int cells = 1;
  while ((cells + 1) * double(cells + 1) * (cells + 1) * 3 <= n) ++cells;
  const int all = cells * cells * cells;
  float4* const sorted = static_cast<float4*>(scratch);
  int* const end = reinterpret_cast<int*>(sorted + n);
  box* const b = reinterpret_cast<box*>(end + all);
  clear_kernel<<<ceil_div(all + 3, 256), 256>>>(b, end, all);
  check(cudaGetLastError());
  box_kernel<<<ceil_div(n, 256), 256>>>(xyz, b, n);
  check(cudaGetLastError());
  count_kernel<<<ceil_div(n, 256), 256>>>(xyz, b, end, cells, n);
  check(cudaGetLastError());
  scan_kernel<<<1, 1024>>>(end, all);
  check(cudaGetLastError());
  sort_kernel<<<ceil_div(n, 256), 256>>>(xyz, b, end, sorted, cells, n);
  check(cudaGetLastError());
  search_kernel<<<ceil_div(n, 128), 128>>>(b, end, sorted, nearest, cells, n);
  check(cudaGetLastError());
}
