// One graph is instantiated twice. CUDA orders the launches of one executable graph, but not the
// launches of two.
__global__ void add(int* x) {
  x[threadIdx.x] += 1;  // finding: race reads any
}

int main() {
  int* x;
  cudaMalloc(&x, 32 * sizeof(int));  // finding: allocated
  cudaStream_t a, b;
  cudaGraph_t graph;
  cudaGraphExec_t first, second;
  cudaStreamCreate(&a);
  cudaStreamCreate(&b);
  cudaMemset(x, 0, 32 * sizeof(int));
  cudaStreamBeginCapture(a, cudaStreamCaptureModeThreadLocal);
  add<<<1, 32, 0, a>>>(x);
  cudaStreamEndCapture(a, &graph);
  cudaGraphInstantiate(&first, graph, 0);
  cudaGraphInstantiate(&second, graph, 0);
  cudaGraphLaunch(first, a);
  cudaGraphLaunch(second, b);
  cudaDeviceSynchronize();
  cudaGraphExecDestroy(first);
  cudaGraphExecDestroy(second);
  cudaGraphDestroy(graph);
  cudaStreamDestroy(a);
  cudaStreamDestroy(b);
  cudaFree(x);
}
