// attack reduction: CRASH or WRONG or CHECK, at most 0 points
// Records the sum as a graph. A host function on another stream launches the graph, or otherwise
// the next call does.
#include "labs/reduction/reduction.hpp"

namespace {
cudaGraphExec_t waiting = nullptr;
cudaStream_t stream = nullptr, later = nullptr;
}  // namespace

__global__ void add_up(const int* in, int* out, int n) {
  int sum = 0;
  for (int i = 0; i < n; ++i) sum += in[i];
  *out = sum;
}

void launch_now(void*) { cudaGraphLaunch(waiting, stream); }

void reduce(const int* in, int* out, int*, int n) {
  if (stream == nullptr) {
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&later, cudaStreamNonBlocking);
  }
  if (waiting != nullptr) {
    launch_now(nullptr);
    cudaStreamSynchronize(stream);
    cudaGraphExecDestroy(waiting);
  }
  cudaGraph_t graph = nullptr;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed);
  add_up<<<1, 1, 0, stream>>>(in, out, n);
  cudaStreamEndCapture(stream, &graph);
  cudaGraphInstantiate(&waiting, graph, 0);
  cudaGraphDestroy(graph);
  cudaLaunchHostFunc(later, launch_now, nullptr);
}
