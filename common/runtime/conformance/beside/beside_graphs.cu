// Branches of a graph are not ordered: a kernel in one may wait for a kernel in another. A launch
// of a graph comes after what its stream has been given.
#include <cuda_runtime.h>

#include "common/runtime/conformance/beside/waiting.hpp"

namespace {

cudaGraphNode_t kernel_node(cudaGraph_t g, std::initializer_list<cudaGraphNode_t> after,
                            void* function, void** arguments) {
  cudaKernelNodeParams p{};
  p.func = function;
  p.gridDim = p.blockDim = dim3(1);
  p.kernelParams = arguments;
  cudaGraphNode_t node;
  EXPECT(cudaGraphAddKernelNode(&node, g, after.size() == 0 ? nullptr : after.begin(), after.size(),
                                &p),
         cudaSuccess);
  return node;
}

void count(void* at) { ++*static_cast<int*>(at); }

// The node that waits is made before that which sets the flag, and after it. A host function and a
// copy follow; both branches meet in a kernel.
void branches(bool waits_first) {
  waiting w;
  int called = 0, seven = 7;
  cudaGraph_t g;
  EXPECT(cudaGraphCreate(&g, 0), cudaSuccess);
  void *wait_arguments[] = {&w.flag, &seven, &w.seen}, *set_arguments[] = {&w.flag, &seven},
       *twice_arguments[] = {&w.seen};
  cudaGraphNode_t begin, waits{}, sets{}, host, copy, clear;
  EXPECT(cudaGraphAddEmptyNode(&begin, g, nullptr, 0), cudaSuccess);
  if (waits_first) waits = kernel_node(g, {begin}, (void*)wait_for, wait_arguments);
  sets = kernel_node(g, {begin}, (void*)set, set_arguments);
  if (!waits_first) waits = kernel_node(g, {begin}, (void*)wait_for, wait_arguments);
  const cudaHostNodeParams host_parameters{count, &called};
  EXPECT(cudaGraphAddHostNode(&host, g, &waits, 1, &host_parameters), cudaSuccess);
  const cudaGraphNode_t both = kernel_node(g, {host, sets}, (void*)twice, twice_arguments);
  EXPECT(cudaGraphAddMemcpyNode1D(&copy, g, &both, 1, w.home, w.seen, sizeof(int),
                                  cudaMemcpyDeviceToHost),
         cudaSuccess);
  cudaMemsetParams zero{};
  zero.dst = w.flag;
  zero.elementSize = 4;
  zero.width = zero.height = 1;
  EXPECT(cudaGraphAddMemsetNode(&clear, g, &copy, 1, &zero), cudaSuccess);
  cudaGraphExec_t run;
  EXPECT(cudaGraphInstantiate(&run, g, 0), cudaSuccess);
  cudaStream_t a = make_stream();
  for (int n = 1; n <= 3; ++n) {
    w.home[0] = -1;
    EXPECT(cudaGraphLaunch(run, a), cudaSuccess);
    EXPECT(cudaStreamSynchronize(a), cudaSuccess);
    EXPECT_TRUE(w.home[0] == 14);
    EXPECT_TRUE(called == n);
  }
  // Without waiting between two launches.
  for (int n = 0; n < 2; ++n) EXPECT(cudaGraphLaunch(run, a), cudaSuccess);
  EXPECT(cudaStreamSynchronize(a), cudaSuccess);
  EXPECT_TRUE(called == 5);
  EXPECT(cudaGraphExecDestroy(run), cudaSuccess);
  EXPECT(cudaGraphDestroy(g), cudaSuccess);
  EXPECT(cudaStreamDestroy(a), cudaSuccess);
}

// A graph behind a kernel that waits, destroyed before it runs; and work behind the graph.
void behind() {
  waiting w;
  cudaStream_t a = make_stream(), b = make_stream();
  cudaGraph_t g;
  int called = 0;
  EXPECT(cudaStreamBeginCapture(a, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  twice<<<1, 1, 0, a>>>(w.seen);
  EXPECT(cudaLaunchHostFunc(a, count, &called), cudaSuccess);
  EXPECT(cudaStreamEndCapture(a, &g), cudaSuccess);
  cudaGraphExec_t run;
  EXPECT(cudaGraphInstantiate(&run, g, 0), cudaSuccess);
  wait_for<<<1, 1, 0, a>>>(w.flag, 7, w.seen);
  for (int n = 0; n < 2; ++n) EXPECT(cudaGraphLaunch(run, a), cudaSuccess);
  EXPECT(cudaMemcpyAsync(w.home, w.seen, sizeof(int), cudaMemcpyDeviceToHost, a), cudaSuccess);
  EXPECT_NOT_READY(cudaStreamQuery(a));
  EXPECT_TRUE(called == 0);
  EXPECT(cudaGraphDestroy(g), cudaSuccess);
  set<<<1, 1, 0, b>>>(w.flag, 7);
  EXPECT(cudaStreamSynchronize(a), cudaSuccess);
  EXPECT_TRUE(w.home[0] == 28);
  EXPECT_TRUE(called == 2);
  EXPECT(cudaGraphExecDestroy(run), cudaSuccess);
  for (cudaStream_t s : {a, b}) EXPECT(cudaStreamDestroy(s), cudaSuccess);
}

// Work that is outstanding is no part of a capture of its stream that begins meanwhile.
void capture_meanwhile() {
  waiting w;
  cudaStream_t a = make_stream(), b = make_stream();
  cudaGraph_t g;
  wait_for<<<1, 1, 0, a>>>(w.flag, 7, w.seen);
  twice<<<1, 1, 0, a>>>(w.seen);
  EXPECT(cudaMemcpyAsync(w.home, w.seen, sizeof(int), cudaMemcpyDeviceToHost, a), cudaSuccess);
  EXPECT(cudaStreamBeginCapture(a, cudaStreamCaptureModeRelaxed), cudaSuccess);
  twice<<<1, 1, 0, a>>>(w.seen);
  set<<<1, 1, 0, b>>>(w.flag, 7);
  EXPECT(cudaStreamSynchronize(b), cudaSuccess);
  while (static_cast<volatile int*>(w.home)[0] == -1) {
  }
  EXPECT_TRUE(w.home[0] == 14);
  EXPECT(cudaStreamEndCapture(a, &g), cudaSuccess);
  std::size_t nodes = 0;
  EXPECT(cudaGraphGetNodes(g, nullptr, &nodes), cudaSuccess);
  EXPECT_TRUE(nodes == 1);
  EXPECT(cudaGraphDestroy(g), cudaSuccess);
  for (cudaStream_t s : {a, b}) EXPECT(cudaStreamDestroy(s), cudaSuccess);
}

}  // namespace

int main() {
  load_kernels();
  branches(true);
  branches(false);
  behind();
  capture_meanwhile();
  return outcome("graphs beside kernels that wait");
}
