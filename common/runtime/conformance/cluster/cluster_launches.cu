// Launches with clusters: which an H200 accepts, which error it returns for the others, and graphs.
#include <algorithm>

#include "cluster_launch.hpp"
#include "expect.hpp"

__global__ void empty() {}
__global__ void large() {}
__global__ void __cluster_dims__(2, 1, 1) pairs() {}
__global__ void __cluster_dims__(4, 2, 1) plane() {}

cudaError_t launch(void (*kernel)(), dim3 grid, dim3 cluster) {
  const cudaError_t outcome = launch_in_clusters(kernel, {grid, cluster, 64});
  if (outcome != cudaSuccess) EXPECT(cudaGetLastError(), outcome);
  return outcome;
}

void sizes() {
  for (const unsigned size : {1, 2, 3, 5, 7, 8}) EXPECT(launch(empty, 4 * size, size), cudaSuccess);
  for (const unsigned size : {9, 16, 17, 32})
    EXPECT(launch(empty, 4 * size, size), cudaErrorInvalidClusterSize);
  EXPECT(launch(empty, 5, 2), cudaErrorInvalidClusterSize);
  EXPECT(launch(empty, 1, 2), cudaErrorInvalidClusterSize);
  EXPECT(launch(empty, 4, 0), cudaErrorInvalidClusterSize);
  EXPECT(launch(empty, {4, 4, 4}, {2, 2, 2}), cudaSuccess);
  EXPECT(launch(empty, {4, 4, 4}, {1, 1, 3}), cudaErrorInvalidClusterSize);
  EXPECT(launch(empty, {4, 4, 1}, {4, 4, 1}), cudaErrorInvalidClusterSize);
  EXPECT(cudaFuncSetAttribute(large, cudaFuncAttributeNonPortableClusterSizeAllowed, 1),
         cudaSuccess);
  for (const unsigned size : {9, 10, 12, 15, 16})
    EXPECT(launch(large, 4 * size, size), cudaSuccess);
  EXPECT(launch(large, 4 * 17, 17), cudaErrorInvalidClusterSize);
}

void dimensions_of_kernels() {
  pairs<<<4, 64>>>();
  EXPECT(cudaGetLastError(), cudaSuccess);
  pairs<<<5, 64>>>();
  EXPECT(cudaGetLastError(), cudaErrorInvalidClusterSize);
  EXPECT(launch(pairs, 4, 2), cudaSuccess);
  EXPECT(launch(pairs, 4, 4), cudaErrorInvalidClusterSize);
  EXPECT(launch(pairs, 4, 1), cudaErrorInvalidClusterSize);
  plane<<<dim3(8, 4), 64>>>();
  EXPECT(cudaGetLastError(), cudaSuccess);
  plane<<<dim3(8, 3), 64>>>();
  EXPECT(cudaGetLastError(), cudaErrorInvalidClusterSize);
  cudaFuncAttributes of;
  EXPECT(cudaFuncGetAttributes(&of, plane), cudaSuccess);
  EXPECT_TRUE(of.clusterDimMustBeSet == 1 && of.requiredClusterWidth == 4 &&
              of.requiredClusterHeight == 2 && of.requiredClusterDepth == 1);
  EXPECT(cudaFuncGetAttributes(&of, empty), cudaSuccess);
  EXPECT_TRUE(of.clusterDimMustBeSet == 0 && of.requiredClusterWidth == 0);
}

void attributes() {
  EXPECT(cudaFuncSetAttribute(empty, cudaFuncAttributeClusterDimMustBeSet, 1),
         cudaErrorInvalidValue);
  EXPECT(cudaFuncSetAttribute(pairs, cudaFuncAttributeRequiredClusterWidth, 1),
         cudaErrorInvalidValue);
  EXPECT(cudaFuncSetAttribute(pairs, cudaFuncAttributeRequiredClusterHeight, 1), cudaSuccess);
  EXPECT(cudaFuncSetAttribute(empty, cudaFuncAttributeRequiredClusterWidth, -1),
         cudaErrorInvalidValue);
  for (const int policy : {0, 1, 2})
    EXPECT(cudaFuncSetAttribute(empty, cudaFuncAttributeClusterSchedulingPolicyPreference, policy),
           cudaSuccess);
  for (const int policy : {-1, 3})
    EXPECT(cudaFuncSetAttribute(empty, cudaFuncAttributeClusterSchedulingPolicyPreference, policy),
           cudaErrorInvalidValue);
  cudaFuncAttributes of;
  EXPECT(cudaFuncGetAttributes(&of, empty), cudaSuccess);
  EXPECT_TRUE(of.clusterSchedulingPolicyPreference == 2 && of.nonPortableClusterSizeAllowed == 0);
  cudaLaunchConfig_t config{};
  config.gridDim = 64;
  config.blockDim = 128;
  int most = 0;
  EXPECT(cudaOccupancyMaxPotentialClusterSize(&most, empty, &config), cudaSuccess);
  EXPECT_TRUE(most == 8);
  EXPECT(cudaFuncSetAttribute(large, cudaFuncAttributeNonPortableClusterSizeAllowed, 1),
         cudaSuccess);
  EXPECT(cudaOccupancyMaxPotentialClusterSize(&most, large, &config), cudaSuccess);
  EXPECT_TRUE(most == 16);
}

// With one block per multiprocessor. The counts for more than one block depend on the chip.
void occupancy() {
  constexpr int shared = 227 * 1024;
  for (auto* const kernel : {empty, large})
    EXPECT(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared),
           cudaSuccess);
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cudaLaunchConfig_t config{};
  config.blockDim = 128;
  config.dynamicSmemBytes = shared;
  config.attrs = &cluster;
  config.numAttrs = 1;
  const auto active = [&](void (*kernel)(), unsigned blocks, cudaError_t outcome) {
    config.gridDim = 4 * std::max(blocks, 1u);
    cluster.val.clusterDim = {blocks, 1, 1};
    int clusters = -1;
    EXPECT(cudaOccupancyMaxActiveClusters(&clusters, kernel, &config), outcome);
    return clusters;
  };
  int multiprocessors = 0;
  check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
  int most = multiprocessors;
  EXPECT_TRUE(active(empty, 1, cudaSuccess) == most);
  for (int blocks = 2; blocks <= 16; ++blocks) {
    const int clusters = active(blocks > 8 ? large : empty, blocks, cudaSuccess);
    EXPECT_TRUE(clusters >= 1 && clusters <= most && clusters * blocks <= multiprocessors);
    most = clusters;
  }
  for (const unsigned blocks : {0, 9, 17})
    EXPECT_TRUE(active(empty, blocks, cudaErrorInvalidClusterSize) == -1);
  EXPECT_TRUE(active(large, 17, cudaSuccess) >= 0);
  config.blockDim = 2048;
  EXPECT_TRUE(active(empty, 2, cudaSuccess) == 0);
  EXPECT(cudaOccupancyMaxPotentialClusterSize(&most, empty, &config), cudaSuccess);
  EXPECT_TRUE(most == 0);
  config.blockDim = 0;
  EXPECT_TRUE(active(empty, 2, cudaErrorInvalidValue) == -1);
  config.blockDim = 128;
  config.numAttrs = 0;
  EXPECT_TRUE(active(empty, 2, cudaSuccess) == 0);
}

__global__ void sizes_of_clusters(int* out) {
  unsigned blocks;
  asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(blocks));
  if (threadIdx.x == 0) out[blockIdx.x] = static_cast<int>(blocks);
}

// Runs a graph once, and compares the clusters that its kernel ran in.
void run_graph(cudaGraph_t graph, device_array<int>& out, int blocks) {
  cudaGraphExec_t executable = nullptr;
  EXPECT(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
  EXPECT(cudaGraphLaunch(executable, nullptr), cudaSuccess);
  EXPECT(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_TRUE(out.values() == std::vector<int>(8, blocks));
  EXPECT(cudaGraphExecDestroy(executable), cudaSuccess);
}

void graphs() {
  device_array<int> out(8);
  int* const to = out.get();
  cudaStream_t stream = nullptr;
  check(cudaStreamCreate(&stream));
  cudaGraph_t graph = nullptr;
  EXPECT(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT(launch_in_clusters(sizes_of_clusters, {8, 2, 32, stream}, to), cudaSuccess);
  EXPECT(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  run_graph(graph, out, 2);
  cudaGraphNode_t node = nullptr;
  std::size_t count = 1;
  EXPECT(cudaGraphGetNodes(graph, &node, &count), cudaSuccess);
  cudaLaunchAttributeValue value{};
  EXPECT(cudaGraphKernelNodeGetAttribute(node, cudaLaunchAttributeClusterDimension, &value),
         cudaSuccess);
  EXPECT_TRUE(value.clusterDim.x == 2);
  value.clusterDim.x = 4;
  EXPECT(cudaGraphKernelNodeSetAttribute(node, cudaLaunchAttributeClusterDimension, &value),
         cudaSuccess);
  run_graph(graph, out, 4);
  check(cudaGraphDestroy(graph));
  check(cudaStreamDestroy(stream));
}

int main() {
  sizes();
  dimensions_of_kernels();
  attributes();
  occupancy();
  graphs();
  EXPECT(cudaDeviceSynchronize(), cudaSuccess);
  return outcome("launches with clusters");
}
