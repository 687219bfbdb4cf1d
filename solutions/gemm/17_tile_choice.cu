// gemm 17_tile_choice: the size decides how wide a tile is, and whether sums are divided.
//
// idea    Wide tiles read the least, but a small c consists of too few of them. Dividing sums fills
//         the machine, but handing them over takes as long as a dozen steps. The host estimates the
//         time of each width from 64 to 256, with whole and with divided sums, and launches the
//         best.
// watch   The estimate counts steps of 256 columns. The cost of narrow steps and of handing over
//         was measured on an H200; another GPU may need other numbers.
// needs   Any contract sizes; compute capability 9.0; no two calls at once.
// source  NVIDIA, "Matrix Multiplication Background User's Guide": tile and wave quantization.
#include <algorithm>

#include "common/lab/ceil_div.hpp"
#include "common/lab/check.hpp"
#include "labs/gemm/gemm.hpp"
#include "solutions/gemm/parts/sm_count.hpp"
#include "solutions/gemm/parts/tile_kernel.hpp"

// The number of clusters that run at once, if each has this many blocks.
int workers_of(int cluster) {
  return std::max(1, std::min(sm_count(), most_warpgroups / consumers) / cluster);
}

// A way to launch the kernel: the first `rounds` rounds are whole tiles, the rest is divided.
struct plan {
  int cols = 0, cluster = 0, workers = 0, rounds = 0;
  double time = 1e30;  // in steps of 256 columns
};

plan best_plan(int m, int n, int k) {
  struct shape {
    int cols, cluster;
    double step, tile, hand_over;  // the time of a step, to store a tile, to hand over and add
  };
  constexpr shape shapes[] = {
      {64, 1, 0.65, 2, 2.5}, {128, 2, 0.66, 3, 5}, {192, 2, 0.82, 4.5, 7.5}, {256, 2, 1, 6, 10}};
  plan best;
  for (const shape& s : shapes) {
    const int most = workers_of(s.cluster), steps = ceil_div(k, depth);
    const int tiles = ceil_div(n, s.cols) * ceil_div(m, s.cluster * rows);
    const auto consider = [&](int workers, int rounds) {
      //> todo: estimate the time of the rounds and of the divided tiles; keep the best plan.
      const int divided = std::max(0, tiles - rounds * workers);
      double time = rounds * (steps * s.step + s.tile);
      if (divided > 0)
        time += double(divided) / workers * steps * s.step + 2 * s.tile +
                std::max(1, workers / divided) * s.hand_over;
      if (time < best.time) best = {s.cols, s.cluster, workers, rounds, time};
      //<
    };
    consider(std::min(most, tiles), ceil_div(tiles, most));
    for (int rounds = std::max(0, tiles / most - 1); rounds <= tiles / most; ++rounds)
      if ((tiles - rounds * most) * steps >= most) consider(most, rounds);
    for (int parts = 2; parts <= std::min(most / tiles, steps); ++parts) consider(parts * tiles, 0);
  }
  return best;
}

template <int Cols, int Cluster>
void launch(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k,
            const plan& p) {
  const CUtensorMap a_map = map_of(a, m, k, rows), b_map = map_of(b, k, n, depth / Cluster);
  const CUtensorMap c_map = map_of(c, m, n, 64);
  constexpr int bytes = sizeof(shared_memory<Cols>);
  const auto kernel = tile_kernel<Cols, Cluster>;
  static const cudaError_t allowed =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  check(allowed);
  kernel<<<p.workers * Cluster, threads, bytes>>>(a_map, b_map, c_map, m, n, k, p.rounds);
  check(cudaGetLastError());
}

void gemm(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k) {
  const plan best = best_plan(m, n, k);
  if (best.cols == 64) launch<64, 1>(a, b, c, m, n, k, best);
  if (best.cols == 128) launch<128, 2>(a, b, c, m, n, k, best);
  if (best.cols == 192) launch<192, 2>(a, b, c, m, n, k, best);
  if (best.cols == 256) launch<256, 2>(a, b, c, m, n, k, best);
}
