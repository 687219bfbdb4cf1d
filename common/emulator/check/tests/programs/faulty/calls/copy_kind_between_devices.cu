// Kinds that declare device memory to be host memory. A GPU follows the addresses and copies.
#include <cstdlib>

__device__ int total;

#define CHECK(call) \
  if ((call) != cudaSuccess) std::abort()

int main() {
  int *x, *y;
  cudaStream_t stream;
  CHECK(cudaMalloc(&x, 64));
  CHECK(cudaMalloc(&y, 64));
  CHECK(cudaMemset(x, 0, 64));
  CHECK(cudaStreamCreate(&stream));
  // finding 1: wrong_copy_kind called says=source_is_host_memory
  CHECK(cudaMemcpy(y, x, 64, cudaMemcpyHostToDevice));
  // finding 2: wrong_copy_kind called says=destination_is_host_memory
  CHECK(cudaMemcpyAsync(y, x, 64, cudaMemcpyDeviceToHost, stream));
  // finding 3: wrong_copy_kind called says=both_areas_are_host_memory
  CHECK(cudaMemcpy2D(y, 16, x, 16, 16, 4, cudaMemcpyHostToHost));
  // finding 4: wrong_copy_kind called says=use_cudaMemcpyDeviceToDevice
  CHECK(cudaMemcpyToSymbol(total, x, sizeof(int)));
  int sum = 0;
  // finding 5: wrong_copy_kind called says=use_cudaMemcpyDeviceToHost
  CHECK(cudaMemcpy(&sum, x, sizeof(int), cudaMemcpyHostToHost));
  cudaGraph_t graph;
  cudaGraphNode_t node;
  cudaGraphExec_t run;
  CHECK(cudaGraphCreate(&graph, 0));
  // finding 6: wrong_copy_kind called count=1
  CHECK(cudaGraphAddMemcpyNode1D(&node, graph, nullptr, 0, y, x, 64, cudaMemcpyDeviceToHost));
  CHECK(cudaGraphInstantiate(&run, graph, 0));
  CHECK(cudaGraphLaunch(run, stream));
  CHECK(cudaGraphLaunch(run, stream));
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaGraphExecDestroy(run));
  CHECK(cudaGraphDestroy(graph));
  CHECK(cudaStreamDestroy(stream));
  CHECK(cudaFree(x));
  CHECK(cudaFree(y));
  return sum;
}
