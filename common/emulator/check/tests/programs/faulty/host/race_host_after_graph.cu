// A launched graph produces a result, and the host does not wait for it.
__global__ void fill(int* x) {
  x[threadIdx.x] = 7;  // finding: writes
}

int main() {
  int* x;
  cudaMallocManaged(&x, 128);  // finding: allocated
  cudaStream_t s;
  cudaStreamCreate(&s);
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  fill<<<1, 32, 0, s>>>(x);  // finding: unfinished
  cudaStreamEndCapture(s, &graph);
  cudaGraphInstantiate(&executable, graph, 0);
  x[3] = 1;
  cudaGraphLaunch(executable, s);
  int sum = x[3];  // finding: race called
  cudaStreamSynchronize(s);
  sum += x[3];
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
  cudaStreamDestroy(s);
  cudaFree(x);
  return sum == 0;
}
