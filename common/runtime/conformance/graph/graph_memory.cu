// Memory nodes: an address for the life of the graph, memory that outlives a launch, and who may
// release it.
#include "expect.hpp"

__global__ void put(int* memory, int value) { memory[threadIdx.x] = value + threadIdx.x; }

static cudaMemAllocNodeParams megabyte() {
  cudaMemAllocNodeParams p = {};
  p.poolProps.allocType = cudaMemAllocationTypePinned;
  p.poolProps.location.type = cudaMemLocationTypeDevice;
  p.poolProps.location.id = 0;
  p.bytesize = 1 << 20;
  return p;
}

static cudaKernelNodeParams put_params(void** list) {
  cudaKernelNodeParams p = {};
  p.func = reinterpret_cast<void*>(put);
  p.gridDim = dim3(1);
  p.blockDim = dim3(32);
  p.kernelParams = list;
  return p;
}

int main() {
  cudaStream_t stream;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  int back[32] = {};

  // Allocated, used and released by one graph, as often as it is launched.
  cudaGraph_t graph;
  check(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t allocate, kernel, copy, release;
  cudaMemAllocNodeParams p = megabyte();
  EXPECT(cudaGraphAddMemAllocNode(&allocate, graph, nullptr, 0, &p), cudaSuccess);
  EXPECT_TRUE(p.dptr != nullptr);
  int seven = 7;
  void* list[] = {&p.dptr, &seven};
  cudaKernelNodeParams kernel_params = put_params(list);
  EXPECT(cudaGraphAddKernelNode(&kernel, graph, &allocate, 1, &kernel_params), cudaSuccess);
  EXPECT(cudaGraphAddMemcpyNode1D(&copy, graph, &kernel, 1, back, p.dptr, sizeof back,
                                  cudaMemcpyDeviceToHost),
         cudaSuccess);
  EXPECT(cudaGraphAddMemFreeNode(&release, graph, &copy, 1, p.dptr), cudaSuccess);
  cudaGraphNode_t again;
  EXPECT(cudaGraphAddMemFreeNode(&again, graph, &copy, 1, p.dptr), cudaErrorInvalidValue);
  EXPECT(cudaGraphAddMemFreeNode(&again, graph, &copy, 1, back), cudaErrorInvalidValue);
  cudaGraph_t clone;
  EXPECT_TRUE(cudaGraphClone(&clone, graph) != cudaSuccess);
  EXPECT_TRUE(cudaGraphDestroyNode(copy) != cudaSuccess);
  cudaGraphExec_t executable, second;
  EXPECT(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
  EXPECT_TRUE(cudaGraphInstantiate(&second, graph, 0) != cudaSuccess);
  for (int launch = 0; launch < 2; ++launch) {
    back[31] = 0;
    EXPECT(cudaGraphLaunch(executable, stream), cudaSuccess);
    EXPECT(cudaStreamSynchronize(stream), cudaSuccess);
    EXPECT_TRUE(back[31] == 38);
  }
  check(cudaGraphExecDestroy(executable));
  check(cudaGraphDestroy(graph));

  // Left allocated: used and released by the stream.
  check(cudaGraphCreate(&graph, 0));
  p = megabyte();
  EXPECT(cudaGraphAddMemAllocNode(&allocate, graph, nullptr, 0, &p), cudaSuccess);
  EXPECT(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
  EXPECT(cudaGraphLaunch(executable, stream), cudaSuccess);
  put<<<1, 32, 0, stream>>>(static_cast<int*>(p.dptr), 100);
  EXPECT(cudaMemcpyAsync(back, p.dptr, sizeof back, cudaMemcpyDeviceToHost, stream), cudaSuccess);
  EXPECT(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_TRUE(back[31] == 131);
  EXPECT(cudaGraphLaunch(executable, stream), cudaErrorInvalidValue);
  EXPECT(cudaFreeAsync(p.dptr, stream), cudaSuccess);
  EXPECT(cudaGraphLaunch(executable, stream), cudaSuccess);
  EXPECT(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT(cudaFree(p.dptr), cudaSuccess);
  check(cudaGraphExecDestroy(executable));
  EXPECT(cudaGraphInstantiate(&executable, graph, cudaGraphInstantiateFlagAutoFreeOnLaunch),
         cudaSuccess);
  for (int launch = 0; launch < 3; ++launch)
    EXPECT(cudaGraphLaunch(executable, stream), cudaSuccess);
  EXPECT(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT(cudaFree(p.dptr), cudaSuccess);
  check(cudaGraphExecDestroy(executable));
  check(cudaGraphDestroy(graph));

  // Captured.
  EXPECT(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  int* memory = nullptr;
  EXPECT(cudaMallocAsync(&memory, 4096, stream), cudaSuccess);
  put<<<1, 32, 0, stream>>>(memory, 1);
  EXPECT(cudaMemcpyAsync(back, memory, sizeof back, cudaMemcpyDeviceToHost, stream), cudaSuccess);
  EXPECT(cudaFreeAsync(memory, stream), cudaSuccess);
  EXPECT(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  EXPECT(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
  EXPECT(cudaGraphLaunch(executable, stream), cudaSuccess);
  EXPECT(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_TRUE(back[31] == 32);
  check(cudaGraphExecDestroy(executable));
  check(cudaGraphDestroy(graph));

  EXPECT(cudaDeviceGraphMemTrim(0), cudaSuccess);
  unsigned long long reserved = 1;
  EXPECT(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrReservedMemCurrent, &reserved),
         cudaSuccess);
  EXPECT_TRUE(reserved == 0);
  cudaGetLastError();
  check(cudaStreamDestroy(stream));
  return outcome("memory nodes");
}
