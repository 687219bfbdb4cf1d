// Captured streams: fork and join, calls that become nodes, and calls that may not happen.
#include <cstdio>
#include <thread>

#include "expect.hpp"

__global__ void add(int* values, int amount) { values[threadIdx.x] += amount; }
__global__ void sum(const int* a, const int* b, int* out) {
  out[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x];
}

static void CUDART_CB count(void* data) { ++*static_cast<int*>(data); }

static cudaStream_t stream_of(unsigned flags) {
  cudaStream_t made;
  check(cudaStreamCreateWithFlags(&made, flags));
  return made;
}

static void fork_and_join() {
  const cudaStream_t first = stream_of(0), second = stream_of(0);
  cudaEvent_t forked, joined;
  check(cudaEventCreate(&forked));
  check(cudaEventCreate(&joined));
  device_array<int> a(32), b(32), out(32);
  int* back;
  check(cudaMallocHost(&back, 32 * sizeof(int)));
  int calls = 0;

  EXPECT(cudaStreamBeginCapture(first, cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT(cudaMemsetAsync(a.get(), 0, 32 * sizeof(int), first), cudaSuccess);
  EXPECT(cudaEventRecord(forked, first), cudaSuccess);
  EXPECT(cudaStreamWaitEvent(second, forked, 0), cudaSuccess);
  EXPECT(cudaMemsetAsync(b.get(), 0, 32 * sizeof(int), second), cudaSuccess);
  add<<<1, 32, 0, first>>>(a.get(), 3);
  add<<<1, 32, 0, second>>>(b.get(), 4);
  cudaStreamCaptureStatus status;
  EXPECT(cudaStreamIsCapturing(second, &status), cudaSuccess);
  EXPECT_TRUE(status == cudaStreamCaptureStatusActive);
  EXPECT(cudaEventRecord(joined, second), cudaSuccess);
  EXPECT(cudaStreamWaitEvent(first, joined, 0), cudaSuccess);
  cudaGraph_t within;
  const cudaGraphNode_t* before;
  std::size_t before_count = 0;
  EXPECT(
      cudaStreamGetCaptureInfo(first, &status, nullptr, &within, &before, nullptr, &before_count),
      cudaSuccess);
  EXPECT_TRUE(before_count == 2);
  sum<<<1, 32, 0, first>>>(a.get(), b.get(), out.get());
  EXPECT(cudaMemcpyAsync(back, out.get(), 32 * sizeof(int), cudaMemcpyDeviceToHost, first),
         cudaSuccess);
  EXPECT(cudaLaunchHostFunc(first, count, &calls), cudaSuccess);
  cudaGraph_t graph;
  EXPECT(cudaStreamEndCapture(first, &graph), cudaSuccess);
  EXPECT_TRUE(graph == within);
  EXPECT_TRUE(calls == 0);

  std::size_t nodes = 0, edges = 0, roots = 0;
  EXPECT(cudaGraphGetNodes(graph, nullptr, &nodes), cudaSuccess);
  EXPECT(cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &edges), cudaSuccess);
  EXPECT(cudaGraphGetRootNodes(graph, nullptr, &roots), cudaSuccess);
  EXPECT_TRUE(nodes == 7 && edges == 7 && roots == 1);
  cudaGraphExec_t executable;
  EXPECT(cudaGraphInstantiate(&executable, graph, 0), cudaSuccess);
  for (int launch = 1; launch <= 2; ++launch) {
    EXPECT(cudaGraphLaunch(executable, second), cudaSuccess);
    EXPECT(cudaStreamSynchronize(second), cudaSuccess);
    EXPECT_TRUE(back[0] == 7 && back[31] == 7);
    EXPECT_TRUE(calls == launch);
  }
  // A launch of a graph cannot be captured: a child node is what a graph has for it.
  EXPECT(cudaStreamBeginCapture(first, cudaStreamCaptureModeRelaxed), cudaSuccess);
  EXPECT(cudaGraphLaunch(executable, first), cudaErrorStreamCaptureUnsupported);
  cudaGraph_t outer = graph;
  EXPECT(cudaStreamEndCapture(first, &outer), cudaErrorStreamCaptureInvalidated);
  EXPECT_TRUE(outer == nullptr);

  check(cudaGraphExecDestroy(executable));
  check(cudaGraphDestroy(graph));
  check(cudaEventDestroy(forked));
  check(cudaEventDestroy(joined));
  check(cudaFreeHost(back));
  check(cudaStreamDestroy(first));
  check(cudaStreamDestroy(second));
}

static void into_a_graph() {
  const cudaStream_t stream = stream_of(cudaStreamNonBlocking);
  device_array<int> values(32);
  check(cudaMemset(values.get(), 0, 32 * sizeof(int)));
  cudaGraph_t graph;
  check(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t start;
  check(cudaGraphAddEmptyNode(&start, graph, nullptr, 0));
  EXPECT(
      cudaStreamBeginCaptureToGraph(stream, graph, &start, nullptr, 1, cudaStreamCaptureModeGlobal),
      cudaSuccess);
  add<<<1, 32, 0, stream>>>(values.get(), 5);
  EXPECT(cudaStreamUpdateCaptureDependencies(stream, &start, nullptr, 1,
                                             cudaStreamSetCaptureDependencies),
         cudaSuccess);
  EXPECT(cudaStreamEndCapture(stream, nullptr), cudaSuccess);
  EXPECT(cudaStreamUpdateCaptureDependencies(stream, &start, nullptr, 1, 0), cudaErrorIllegalState);
  cudaGraphNode_t after;
  std::size_t count = 1;
  EXPECT(cudaGraphNodeGetDependentNodes(start, &after, nullptr, &count), cudaSuccess);
  cudaKernelNodeParams p = {};
  EXPECT(cudaGraphKernelNodeGetParams(after, &p), cudaSuccess);
  EXPECT_TRUE(count == 1 && p.blockDim.x == 32 && *static_cast<int*>(p.kernelParams[1]) == 5);
  check(cudaGraphDestroy(graph));
  check(cudaStreamDestroy(stream));
}

static void errors() {
  const cudaStream_t stream = stream_of(0), other = stream_of(0),
                     apart = stream_of(cudaStreamNonBlocking);
  cudaEvent_t event, outside;
  check(cudaEventCreate(&event));
  check(cudaEventCreate(&outside));
  device_array<int> values(32);
  cudaGraph_t graph;
  const auto begin = [&](cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal) {
    EXPECT(cudaStreamBeginCapture(stream, mode), cudaSuccess);
  };
  const auto ends_invalid = [&] {
    EXPECT(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
    EXPECT_TRUE(graph == nullptr);
  };
  EXPECT(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal),
         cudaErrorStreamCaptureUnsupported);
  EXPECT(cudaStreamEndCapture(stream, &graph), cudaErrorIllegalState);

  begin();
  EXPECT(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), cudaErrorIllegalState);
  EXPECT(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  check(cudaGraphDestroy(graph));

  begin();  // the host cannot wait for what is not run
  EXPECT(cudaStreamSynchronize(stream), cudaErrorStreamCaptureUnsupported);
  cudaStreamCaptureStatus status;
  EXPECT(cudaStreamIsCapturing(stream, &status), cudaSuccess);
  EXPECT_TRUE(status == cudaStreamCaptureStatusInvalidated);
  EXPECT(cudaMemsetAsync(values.get(), 0, 4, stream), cudaErrorStreamCaptureInvalidated);
  ends_invalid();

  begin();
  EXPECT(cudaDeviceSynchronize(), cudaErrorStreamCaptureUnsupported);
  ends_invalid();

  begin();  // the legacy stream would wait for it
  EXPECT(cudaStreamIsCapturing(nullptr, &status), cudaErrorStreamCaptureImplicit);
  EXPECT(cudaMemsetAsync(values.get(), 0, 4, nullptr), cudaErrorStreamCaptureImplicit);
  ends_invalid();

  begin();  // calls that might wait
  void* memory = nullptr;
  EXPECT(cudaMalloc(&memory, 16), cudaErrorStreamCaptureUnsupported);
  ends_invalid();
  begin(cudaStreamCaptureModeRelaxed);
  EXPECT(cudaMalloc(&memory, 16), cudaSuccess);
  EXPECT(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  check(cudaGraphDestroy(graph));
  check(cudaFree(memory));

  begin();  // forked, and not joined
  EXPECT(cudaEventRecord(event, stream), cudaSuccess);
  EXPECT(cudaStreamWaitEvent(other, event, 0), cudaSuccess);
  EXPECT(cudaMemsetAsync(values.get(), 0, 4, other), cudaSuccess);
  EXPECT(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureUnjoined);

  check(cudaEventRecord(outside, other));
  check(cudaStreamSynchronize(other));
  begin();  // work from outside
  EXPECT(cudaStreamWaitEvent(stream, outside, 0), cudaErrorStreamCaptureIsolation);
  ends_invalid();

  begin();  // two captures cannot be one
  EXPECT(cudaStreamBeginCapture(apart, cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT(cudaEventRecord(event, apart), cudaSuccess);
  EXPECT(cudaStreamWaitEvent(stream, event, 0), cudaErrorStreamCaptureMerge);
  ends_invalid();
  EXPECT(cudaStreamEndCapture(apart, &graph), cudaErrorStreamCaptureInvalidated);

  begin();
  EXPECT(cudaEventRecord(event, stream), cudaSuccess);
  EXPECT(cudaEventQuery(event), cudaErrorCapturedEvent);
  graph = nullptr;
  cudaStreamEndCapture(stream, &graph);
  if (graph) check(cudaGraphDestroy(graph));

  begin();
  std::thread([&] {
    EXPECT(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureWrongThread);
  }).join();
  graph = nullptr;
  cudaStreamEndCapture(stream, &graph);
  if (graph) check(cudaGraphDestroy(graph));

  cudaGetLastError();
  check(cudaEventDestroy(event));
  check(cudaEventDestroy(outside));
  for (const cudaStream_t s : {stream, other, apart}) check(cudaStreamDestroy(s));
}

int main() {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // what was said stays said, should a call crash
  fork_and_join();
  into_a_graph();
  errors();
  return outcome("captured graphs");
}
