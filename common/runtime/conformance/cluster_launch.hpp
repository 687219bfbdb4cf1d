// A launch that requests clusters of blocks, for the programs about clusters.
#pragma once

#include <cuda_runtime.h>

struct cluster_grid {
  dim3 blocks, cluster;  // of the grid, and of each cluster
  unsigned threads;      // per block
  cudaStream_t stream = nullptr;
};

template <class... P>
cudaError_t launch_in_clusters(void (*kernel)(P...), const cluster_grid& in, P... arguments) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {in.cluster.x, in.cluster.y, in.cluster.z};
  cudaLaunchConfig_t config{};
  config.gridDim = in.blocks;
  config.blockDim = in.threads;
  config.stream = in.stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  return cudaLaunchKernelEx(&config, kernel, arguments...);
}
