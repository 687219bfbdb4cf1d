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

// A way to launch the kernel, and its time in steps of 256 columns.
struct plan {
  int cols = 0, cluster = 0, rounds = 0;
  double time = 1e30;
};

plan best_plan(int m, int n, int k) {
  struct shape {
    int cols, cluster;
    double step, tile, hand_over;  // the time of a step, to begin and store a tile, to hand over
  };
  constexpr shape shapes[] = {{64, 1, 0.45, 2, 4},
                              {128, 1, 0.6, 3, 7},
                              {128, 2, 0.55, 4, 7},
                              {192, 2, 0.78, 5, 10},
                              {256, 2, 1, 6, 13}};
  plan best;
  for (const shape& s : shapes) {
    const int workers = workers_of(s.cluster), steps = ceil_div(k, depth);
    const int tiles = ceil_div(n, s.cols) * ceil_div(m, s.cluster * rows);
    const int whole = ceil_div(tiles, workers), divided = std::max(0, tiles / workers - 1);
    //> todo: estimate the time with whole tiles only, and with the last one or two rounds divided.
    const double of_whole = whole * (steps * s.step + s.tile);
    const double shared_tiles = tiles - double(divided) * workers;
    const double of_divided = divided * (steps * s.step + s.tile) +
                              shared_tiles / workers * steps * s.step + 2 * s.tile + s.hand_over;
    if (of_whole < best.time) best = {s.cols, s.cluster, whole, of_whole};
    if (of_divided < best.time) best = {s.cols, s.cluster, divided, of_divided};
    //<
  }
  return best;
}

template <int Cols, int Cluster>
void launch(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k,
            int rounds) {
  const int tiles = ceil_div(n, Cols) * ceil_div(m, Cluster * rows), steps = ceil_div(k, depth);
  const bool divided = rounds * workers_of(Cluster) < tiles;
  const int workers = std::min(workers_of(Cluster), divided ? tiles * steps : tiles);
  const CUtensorMap a_map = map_of(a, m, k, rows), b_map = map_of(b, k, n, depth / Cluster);
  const CUtensorMap c_map = map_of(c, m, n, 64);
  constexpr int bytes = sizeof(shared_memory<Cols>);
  const auto kernel = tile_kernel<Cols, Cluster>;
  static const cudaError_t allowed =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
  check(allowed);
  kernel<<<workers * Cluster, threads, bytes>>>(a_map, b_map, c_map, m, n, k, rounds);
  check(cudaGetLastError());
}

void gemm(const __nv_bfloat16* a, const __nv_bfloat16* b, __nv_bfloat16* c, int m, int n, int k) {
  const plan best = best_plan(m, n, k);
  const auto run = [&](auto* launcher) { launcher(a, b, c, m, n, k, best.rounds); };
  if (best.cols == 64) run(launch<64, 1>);
  if (best.cols == 128) run(best.cluster == 1 ? launch<128, 1> : launch<128, 2>);
  if (best.cols == 192) run(launch<192, 2>);
  if (best.cols == 256) run(launch<256, 2>);
}
