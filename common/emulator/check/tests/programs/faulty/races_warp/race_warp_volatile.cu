// volatile forces the loads and stores, but the lanes still need not run in step.
__global__ void swap(int* x) {
  __shared__ volatile int line[32];
  const int i = threadIdx.x;
  line[i] = x[i];      // finding: race writes object=line
  x[i] = line[i ^ 1];  // finding: race reads
}

int main() {
  int* x;
  cudaMalloc(&x, 32 * sizeof(int));
  cudaMemset(x, 0, 32 * sizeof(int));
  swap<<<1, 32>>>(x);
  cudaDeviceSynchronize();
  cudaFree(x);
}
