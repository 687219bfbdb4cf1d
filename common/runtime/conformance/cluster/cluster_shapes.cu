// The special registers of clusters in three dimensions, and in a launch without clusters.
#include "cluster_launch.hpp"
#include "common/emulator/tests/programs/program.hpp"

constexpr int registers = 15;

__global__ void read_registers(int* out) {
  if (threadIdx.x != 0) return;
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  int* const to = out + block * registers;
  unsigned value;
#define READ(i, name)                                   \
  asm volatile("mov.u32 %0, %" name ";" : "=r"(value)); \
  to[i] = static_cast<int>(value);
  READ(0, "%clusterid.x")
  READ(1, "%clusterid.y")
  READ(2, "%clusterid.z")
  READ(3, "%nclusterid.x")
  READ(4, "%nclusterid.y")
  READ(5, "%nclusterid.z")
  READ(6, "%cluster_ctaid.x")
  READ(7, "%cluster_ctaid.y")
  READ(8, "%cluster_ctaid.z")
  READ(9, "%cluster_nctaid.x")
  READ(10, "%cluster_nctaid.y")
  READ(11, "%cluster_nctaid.z")
  READ(12, "%cluster_ctarank")
  READ(13, "%cluster_nctarank")
  asm volatile("{ .reg .pred p; mov.pred p, %%is_explicit_cluster; selp.u32 %0, 1, 0, p; }"
               : "=r"(value));
  to[14] = static_cast<int>(value);
}

int shape(dim3 grid, dim3 cluster, bool is_explicit) {
  const unsigned blocks = grid.x * grid.y * grid.z;
  device_array<int> found(blocks * registers);
  if (is_explicit)
    check(launch_in_clusters(read_registers, {grid, cluster, 32}, found.get()));
  else
    read_registers<<<grid, 32>>>(found.get());
  finish();
  std::vector<int> expected;
  const auto add = [&](unsigned value) { expected.push_back(static_cast<int>(value)); };
  for (unsigned z = 0; z < grid.z; ++z) {
    for (unsigned y = 0; y < grid.y; ++y) {
      for (unsigned x = 0; x < grid.x; ++x) {
        const dim3 in(x % cluster.x, y % cluster.y, z % cluster.z);
        add(x / cluster.x), add(y / cluster.y), add(z / cluster.z);
        add(grid.x / cluster.x), add(grid.y / cluster.y), add(grid.z / cluster.z);
        add(in.x), add(in.y), add(in.z);
        add(cluster.x), add(cluster.y), add(cluster.z);
        add(in.x + cluster.x * (in.y + cluster.y * in.z));
        add(cluster.x * cluster.y * cluster.z);
        add(is_explicit ? 1 : 0);
      }
    }
  }
  return compare("registers", found.values(), expected);
}

int main() {
  return shape({4, 4, 2}, {2, 2, 1}, true) | shape({3, 4, 6}, {1, 2, 3}, true) |
         shape({8, 1, 1}, {8, 1, 1}, true) | shape({2, 2, 1}, {1, 1, 1}, true) |
         shape({2, 3, 2}, {1, 1, 1}, false);
}
