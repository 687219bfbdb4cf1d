// A shuffle synchronises lanes, but does not order their memory accesses.
__global__ void swap(int* x) {
  __shared__ int line[32];
  const int i = threadIdx.x;
  line[i] = x[i];  // finding: race writes object=line
  const int left = __shfl_up_sync(~0u, i, 1);
  x[i] = line[i ^ 1] + left;  // finding: race reads
}

int main() {
  int* x;
  cudaMalloc(&x, 32 * sizeof(int));
  cudaMemset(x, 0, 32 * sizeof(int));
  swap<<<1, 32>>>(x);
  cudaDeviceSynchronize();
  cudaFree(x);
}
