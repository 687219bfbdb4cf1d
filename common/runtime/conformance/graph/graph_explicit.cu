// Graphs that are built node by node: every kind of work, changes of what nodes do, and errors.
#include "expect.hpp"

__global__ void scale(const int* in, int* out, int factor) {
  out[threadIdx.x] = in[threadIdx.x] * factor;
}
__global__ void join(const int* a, const int* b, int* out) {
  out[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x];
}
__device__ int variable[4];

constexpr int n = 64;
constexpr std::size_t bytes = n * sizeof(int);

static void CUDART_CB take(void* data) {
  int* const values = static_cast<int*>(data);
  values[n] = values[0] + values[n - 1];
}

static void CUDART_CB negate(void* data) {
  int* const values = static_cast<int*>(data);
  values[n] = -values[0];
}

static cudaKernelNodeParams kernel(const void* function, void** list) {
  cudaKernelNodeParams p = {};
  p.func = const_cast<void*>(function);
  p.gridDim = dim3(1);
  p.blockDim = dim3(n);
  p.kernelParams = list;
  return p;
}

int main() {
  device_array<int> in(n), left(n), right(n), out(n);
  int* host;
  check(cudaMallocHost(&host, bytes + sizeof(int)));
  cudaStream_t stream;
  check(cudaStreamCreate(&stream));

  // fill, then two kernels side by side, then one that needs both, a copy, a host function.
  cudaGraph_t graph;
  EXPECT(cudaGraphCreate(&graph, 0), cudaSuccess);
  cudaGraphNode_t fill, a, b, both, copy, call;
  cudaMemsetParams fill_params = {};
  fill_params.dst = in.get();
  fill_params.value = 3;
  fill_params.elementSize = 4;
  fill_params.width = n;
  fill_params.height = 1;
  EXPECT(cudaGraphAddMemsetNode(&fill, graph, nullptr, 0, &fill_params), cudaSuccess);
  int *pin = in.get(), *pleft = left.get(), *pright = right.get(), *pout = out.get();
  int two = 2, five = 5;
  void* left_list[] = {&pin, &pleft, &two};
  void* right_list[] = {&pin, &pright, &five};
  void* join_list[] = {&pleft, &pright, &pout};
  cudaKernelNodeParams left_params = kernel(reinterpret_cast<const void*>(scale), left_list);
  cudaKernelNodeParams right_params = kernel(reinterpret_cast<const void*>(scale), right_list);
  cudaKernelNodeParams join_params = kernel(reinterpret_cast<const void*>(join), join_list);
  EXPECT(cudaGraphAddKernelNode(&a, graph, &fill, 1, &left_params), cudaSuccess);
  EXPECT(cudaGraphAddKernelNode(&b, graph, &fill, 1, &right_params), cudaSuccess);
  two = five = 0;  // arguments are copied
  const cudaGraphNode_t needs[] = {a, b};
  EXPECT(cudaGraphAddKernelNode(&both, graph, needs, 2, &join_params), cudaSuccess);
  EXPECT(
      cudaGraphAddMemcpyNode1D(&copy, graph, &both, 1, host, pout, bytes, cudaMemcpyDeviceToHost),
      cudaSuccess);
  cudaHostNodeParams call_params = {take, host};
  EXPECT(cudaGraphAddHostNode(&call, graph, &copy, 1, &call_params), cudaSuccess);

  cudaGraphExec_t executable;
  EXPECT(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
  const auto run = [&] {
    EXPECT(cudaGraphLaunch(executable, stream), cudaSuccess);
    EXPECT(cudaStreamSynchronize(stream), cudaSuccess);
    return host[n];
  };
  EXPECT_TRUE(run() == 2 * (3 * 2 + 3 * 5));

  // One node of the executable graph at a time.
  two = 10;
  EXPECT(cudaGraphExecKernelNodeSetParams(executable, a, &left_params), cudaSuccess);
  EXPECT_TRUE(run() == 2 * (3 * 10 + 3 * 5));
  fill_params.value = 1;
  EXPECT(cudaGraphExecMemsetNodeSetParams(executable, fill, &fill_params), cudaSuccess);
  EXPECT_TRUE(run() == 2 * (10 + 5));
  EXPECT(cudaGraphNodeSetEnabled(executable, fill, 0), cudaSuccess);
  check(cudaMemset(in.get(), 0, bytes));
  EXPECT_TRUE(run() == 0);
  unsigned enabled = 7;
  EXPECT(cudaGraphNodeGetEnabled(executable, fill, &enabled), cudaSuccess);
  EXPECT_TRUE(enabled == 0);
  EXPECT(cudaGraphNodeSetEnabled(executable, fill, 1), cudaSuccess);
  call_params.fn = negate;
  EXPECT(cudaGraphExecHostNodeSetParams(executable, call, &call_params), cudaSuccess);
  EXPECT_TRUE(run() == -15);

  // The whole of it, from a graph of the same shape; the graph itself did not change.
  cudaGraphExecUpdateResultInfo info;
  EXPECT(cudaGraphExecUpdate(executable, graph, &info), cudaSuccess);
  EXPECT_TRUE(info.result == cudaGraphExecUpdateSuccess);
  EXPECT_TRUE(run() == 2 * (3 * 2 + 3 * 5));
  cudaGraph_t clone;
  EXPECT(cudaGraphClone(&clone, graph), cudaSuccess);
  cudaGraphNode_t cloned;
  EXPECT(cudaGraphNodeFindInClone(&cloned, a, clone), cudaSuccess);
  two = 1;
  EXPECT(cudaGraphKernelNodeSetParams(cloned, &left_params), cudaSuccess);
  EXPECT(cudaGraphExecUpdate(executable, clone, &info), cudaSuccess);
  EXPECT_TRUE(run() == 2 * (3 * 1 + 3 * 5));
  cudaGraphNode_t more;
  EXPECT(cudaGraphAddEmptyNode(&more, clone, nullptr, 0), cudaSuccess);
  EXPECT(cudaGraphExecUpdate(executable, clone, &info), cudaErrorGraphExecUpdateFailure);
  EXPECT_TRUE(info.result == cudaGraphExecUpdateErrorTopologyChanged);

  // A child graph, and copies to and from a variable.
  cudaGraph_t outer;
  EXPECT(cudaGraphCreate(&outer, 0), cudaSuccess);
  cudaGraphNode_t child, to_variable, from_variable;
  EXPECT(cudaGraphAddChildGraphNode(&child, outer, nullptr, 0, graph), cudaSuccess);
  EXPECT(cudaGraphAddMemcpyNodeToSymbol(&to_variable, outer, &child, 1, variable, pout, 16, 0,
                                        cudaMemcpyDeviceToDevice),
         cudaSuccess);
  int back[4] = {};
  EXPECT(cudaGraphAddMemcpyNodeFromSymbol(&from_variable, outer, &to_variable, 1, back, variable,
                                          16, 0, cudaMemcpyDeviceToHost),
         cudaSuccess);
  cudaGraphExec_t nested;
  EXPECT(cudaGraphInstantiate(&nested, outer, 0), cudaSuccess);
  EXPECT(cudaGraphLaunch(nested, stream), cudaSuccess);
  EXPECT(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_TRUE(back[0] == 21 && back[3] == 21);

  // Errors.
  cudaGraph_t wrong;
  check(cudaGraphCreate(&wrong, 0));
  cudaGraphNode_t x, y, z;
  EXPECT(cudaGraphAddEmptyNode(&x, wrong, nullptr, 0), cudaSuccess);
  EXPECT(cudaGraphAddEmptyNode(&y, wrong, &x, 1), cudaSuccess);
  EXPECT(cudaGraphAddEmptyNode(&z, wrong, &fill, 1), cudaErrorInvalidValue);
  EXPECT(cudaGraphAddDependencies(wrong, &x, &y, nullptr, 1), cudaErrorInvalidValue);
  EXPECT(cudaGraphRemoveDependencies(wrong, &y, &x, nullptr, 1), cudaErrorInvalidValue);
  cudaGraphExec_t none;
  const cudaError_t cycle = cudaGraphAddDependencies(wrong, &y, &x, nullptr, 1);
  EXPECT_TRUE(cycle == cudaErrorInvalidValue ||
              cudaGraphInstantiate(&none, wrong, 0) == cudaErrorInvalidValue);
  EXPECT(cudaGraphCreate(nullptr, 0), cudaErrorInvalidValue);
  EXPECT(cudaGraphDestroy(nullptr), cudaErrorInvalidValue);
  EXPECT(cudaGraphLaunch(nullptr, stream), cudaErrorInvalidValue);
  EXPECT(cudaGraphNodeSetEnabled(executable, call, 0), cudaErrorInvalidValue);
  cudaKernelNodeParams too_large = left_params;
  too_large.blockDim = dim3(2048);
  EXPECT_TRUE(cudaGraphAddKernelNode(&z, wrong, nullptr, 0, &too_large) != cudaSuccess);
  call_params.fn = nullptr;
  EXPECT(cudaGraphAddHostNode(&z, wrong, nullptr, 0, &call_params), cudaErrorInvalidValue);
  cudaGetLastError();

  check(cudaGraphExecDestroy(nested));
  check(cudaGraphExecDestroy(executable));
  for (const cudaGraph_t g : {graph, clone, outer, wrong}) check(cudaGraphDestroy(g));
  check(cudaFreeHost(host));
  check(cudaStreamDestroy(stream));
  return outcome("explicit graphs");
}
