// Conditional nodes: kernels decide what runs next. Built with -rdc=true, for the device's runtime.
#include "expect.hpp"

__global__ void decide(cudaGraphConditionalHandle handle, const int* value) {
  cudaGraphSetConditional(handle, *value);
}
__global__ void step(cudaGraphConditionalHandle handle, int* left, int* done) {
  ++*done;
  cudaGraphSetConditional(handle, --*left > 0);
}
__global__ void note(int* seen, int what) { *seen = what; }

static cudaGraphNodeParams kernel(const void* function, void** list) {
  cudaGraphNodeParams p = {};
  p.type = cudaGraphNodeTypeKernel;
  p.kernel.func = const_cast<void*>(function);
  p.kernel.gridDim = dim3(1);
  p.kernel.blockDim = dim3(1);
  p.kernel.kernelParams = list;
  return p;
}

static cudaGraphNodeParams conditional(cudaGraphConditionalHandle handle,
                                       cudaGraphConditionalNodeType type, unsigned size) {
  cudaGraphNodeParams p = {};
  p.type = cudaGraphNodeTypeConditional;
  p.conditional.handle = handle;
  p.conditional.type = type;
  p.conditional.size = size;
  return p;
}

static device_array<int>* memory;  // value or left, done or seen
static int* at(int i) { return memory->get() + i; }

static int after(cudaGraph_t graph, int first) {
  const int start[2] = {first, 0};
  check(cudaMemcpy(at(0), start, sizeof start, cudaMemcpyHostToDevice));
  cudaGraphExec_t executable;
  EXPECT(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
  EXPECT(cudaGraphLaunch(executable, nullptr), cudaSuccess);
  int result = -1;
  EXPECT(cudaMemcpy(&result, at(1), sizeof result, cudaMemcpyDeviceToHost), cudaSuccess);
  check(cudaGraphExecDestroy(executable));
  return result;
}

static void loop() {
  cudaGraph_t graph;
  check(cudaGraphCreate(&graph, 0));
  cudaGraphConditionalHandle handle;
  EXPECT(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault),
         cudaSuccess);
  cudaGraphNode_t node, inside;
  cudaGraphNodeParams p = conditional(handle, cudaGraphCondTypeWhile, 1);
  EXPECT(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &p), cudaSuccess);
  int *left = at(0), *done = at(1);
  void* list[] = {&handle, &left, &done};
  cudaGraphNodeParams body = kernel(reinterpret_cast<const void*>(step), list);
  EXPECT(cudaGraphAddNode(&inside, p.conditional.phGraph_out[0], nullptr, nullptr, 0, &body),
         cudaSuccess);
  EXPECT_TRUE(after(graph, 5) == 5);
  EXPECT_TRUE(after(graph, 1) == 1);
  cudaGraph_t clone;
  EXPECT_TRUE(cudaGraphClone(&clone, graph) != cudaSuccess);
  check(cudaGraphDestroy(graph));
}

// An if with an else, or a switch: which body ran, from 1; 0: none.
static void branches(cudaGraphConditionalNodeType type, unsigned size,
                     const std::vector<int>& expected) {
  cudaGraph_t graph;
  check(cudaGraphCreate(&graph, 0));
  cudaGraphConditionalHandle handle;
  EXPECT(cudaGraphConditionalHandleCreate(&handle, graph, 0, 0), cudaSuccess);
  cudaGraphNode_t first, node, inside;
  int *value = at(0), *seen = at(1);
  void* list[] = {&handle, &value};
  cudaGraphNodeParams decides = kernel(reinterpret_cast<const void*>(decide), list);
  EXPECT(cudaGraphAddNode(&first, graph, nullptr, nullptr, 0, &decides), cudaSuccess);
  cudaGraphNodeParams p = conditional(handle, type, size);
  EXPECT(cudaGraphAddNode(&node, graph, &first, nullptr, 1, &p), cudaSuccess);
  for (unsigned i = 0; i < size; ++i) {
    int which = i + 1;
    void* noted[] = {&seen, &which};
    cudaGraphNodeParams body = kernel(reinterpret_cast<const void*>(note), noted);
    EXPECT(cudaGraphAddNode(&inside, p.conditional.phGraph_out[i], nullptr, nullptr, 0, &body),
           cudaSuccess);
  }
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_TRUE(after(graph, static_cast<int>(i)) == expected[i]);
  check(cudaGraphDestroy(graph));
}

int main() {
  device_array<int> values(2);
  memory = &values;
  loop();
  branches(cudaGraphCondTypeIf, 1, {0, 1, 1});
  branches(cudaGraphCondTypeIf, 2, {2, 1, 1});
  branches(cudaGraphCondTypeSwitch, 3, {1, 2, 3, 0});

  cudaGraph_t graph;
  check(cudaGraphCreate(&graph, 0));
  cudaGraphConditionalHandle handle;
  check(cudaGraphConditionalHandleCreate(&handle, graph, 0, 0));
  cudaGraphNode_t node;
  cudaGraphNodeParams p = conditional(handle, cudaGraphCondTypeWhile, 2);
  EXPECT(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &p), cudaErrorInvalidValue);
  EXPECT(cudaGraphConditionalHandleCreate(&handle, graph, 0, 8), cudaErrorInvalidValue);
  cudaGetLastError();
  check(cudaGraphDestroy(graph));
  return outcome("conditional nodes");
}
