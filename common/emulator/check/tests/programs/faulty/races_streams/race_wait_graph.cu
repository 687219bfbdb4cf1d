// A graph was launched, but the host waits for a stream that did not launch it.
__global__ void produce(int* x) {
  x[threadIdx.x] = 1;  // finding: race writes
}

__global__ void consume(const int* x, int* y) {
  y[threadIdx.x] = x[threadIdx.x];  // finding: race reads
}

int main() {
  int *x, *y;
  cudaMalloc(&x, 32 * sizeof(int));  // finding: allocated
  cudaMalloc(&y, 32 * sizeof(int));
  cudaStream_t a, b;
  cudaGraph_t graph;
  cudaGraphExec_t executable;
  cudaStreamCreate(&a);
  cudaStreamCreate(&b);
  cudaStreamBeginCapture(a, cudaStreamCaptureModeThreadLocal);
  produce<<<1, 32, 0, a>>>(x);
  cudaStreamEndCapture(a, &graph);
  cudaGraphInstantiate(&executable, graph, 0);
  cudaGraphLaunch(executable, a);
  cudaStreamSynchronize(b);
  consume<<<1, 32, 0, b>>>(x, y);
  cudaDeviceSynchronize();
  cudaGraphExecDestroy(executable);
  cudaGraphDestroy(graph);
  cudaStreamDestroy(a);
  cudaStreamDestroy(b);
  cudaFree(x);
  cudaFree(y);
}
