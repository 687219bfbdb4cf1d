// Streams that wait for values in memory, and kernels that wait for what comes after them. Built
// with -lcuda.
#include <cuda_runtime.h>

#include "driver/expect_result.hpp"

static __global__ void wait_in_kernel(volatile int* flag, int value, int* seen) {
  while (*flag != value) {
  }
  *seen = value;
}
static __global__ void set(volatile int* flag, int value) { *flag = value; }

static bool is_ready(CUstream s) { return cuStreamQuery(s) == CUDA_SUCCESS; }

int main() {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // what was said stays said, should a call crash
  need(cuInit(0));
  CUcontext context;
  need(cuDevicePrimaryCtxRetain(&context, 0));
  need(cuCtxSetCurrent(context));
  // On a GPU a kernel that is loaded at its first launch may wait for those that run.
  cudaFuncAttributes attributes;
  check(cudaFuncGetAttributes(&attributes, wait_in_kernel));
  check(cudaFuncGetAttributes(&attributes, set));
  const CUdeviceptr flags = allocate(64);
  need(cuMemsetD8(flags, 0, 64));
  need(cuCtxSynchronize());  // the streams here do not wait for the default one
  auto* const words = reinterpret_cast<int*>(flags);
  const CUstream a = stream_of(CU_STREAM_NON_BLOCKING), b = stream_of(CU_STREAM_NON_BLOCKING),
                 c = stream_of(CU_STREAM_NON_BLOCKING);
  CUevent after;
  need(cuEventCreate(&after, CU_EVENT_DISABLE_TIMING));

  // c: a kernel waits for word 1, which a writes when word 0 is 5; b writes that.
  wait_in_kernel<<<1, 1, 0, c>>>(words + 1, 9, words + 8);
  EXPECT_CU(cuStreamWaitValue32(a, flags, 5, CU_STREAM_WAIT_VALUE_EQ), CUDA_SUCCESS);
  EXPECT_CU(cuStreamWriteValue32(a, flags + 4, 9, 0), CUDA_SUCCESS);
  EXPECT_CU(cuEventRecord(after, a), CUDA_SUCCESS);
  EXPECT_CU(cuEventQuery(after), CUDA_ERROR_NOT_READY);
  EXPECT_TRUE(!is_ready(a) && !is_ready(c) && is_ready(b));
  set<<<1, 1, 0, b>>>(words, 5);
  EXPECT_CU(cuEventSynchronize(after), CUDA_SUCCESS);
  EXPECT_CU(cuStreamSynchronize(c), CUDA_SUCCESS);
  EXPECT_TRUE(value_at(flags + 32) == 9);

  // The other way: a waits for what a kernel writes that waits for b, in a graph.
  need(cuMemsetD8(flags, 0, 64));
  need(cuCtxSynchronize());
  CUstreamBatchMemOpParams list[2] = {};
  list[0].waitValue = {CU_STREAM_MEM_OP_WAIT_VALUE_32, flags + 32, {9}, CU_STREAM_WAIT_VALUE_EQ, 0};
  list[1].writeValue = {CU_STREAM_MEM_OP_WRITE_VALUE_32, flags + 36, {4}, 0, 0};
  CUDA_BATCH_MEM_OP_NODE_PARAMS batch{context, 2, list, 0};
  CUgraph graph;
  CUgraphNode node;
  CUgraphExec executable;
  need(cuGraphCreate(&graph, 0));
  EXPECT_CU(cuGraphAddBatchMemOpNode(&node, graph, nullptr, 0, &batch), CUDA_SUCCESS);
  need(cuGraphInstantiate(&executable, graph, 0));
  EXPECT_CU(cuGraphLaunch(executable, a), CUDA_SUCCESS);
  wait_in_kernel<<<1, 1, 0, c>>>(words + 1, 9, words + 8);
  EXPECT_TRUE(!is_ready(a) && !is_ready(c));
  EXPECT_CU(cuStreamWriteValue32(b, flags + 4, 9, 0), CUDA_SUCCESS);
  EXPECT_CU(cuStreamSynchronize(a), CUDA_SUCCESS);
  EXPECT_TRUE(value_at(flags + 36) == 4);
  EXPECT_CU(cuStreamSynchronize(c), CUDA_SUCCESS);

  need(cuGraphExecDestroy(executable));
  need(cuGraphDestroy(graph));
  need(cuEventDestroy(after));
  for (const CUstream s : {a, b, c}) need(cuStreamDestroy(s));
  need(cuMemFree(flags));
  return outcome("values and kernels that wait");
}
