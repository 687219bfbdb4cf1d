// 64 KB of dynamic shared memory require a call of cudaFuncSetAttribute() first.
__global__ void fill(int* x) {
  extern __shared__ int line[];
  line[threadIdx.x] = 1;
  x[threadIdx.x] = line[threadIdx.x];
}

int main() {
  int* x;
  cudaMalloc(&x, 32 * sizeof(int));
  fill<<<1, 32, 65536>>>(x);  // finding: unchecked_error called
  cudaDeviceSynchronize();
  cudaFree(x);
}
