// A barrier for three warps in a block of two warps.
__global__ void wait(int* x) {
  x[threadIdx.x] = 1;
  asm volatile("bar.sync 1, 96;" ::: "memory");  // finding: deadlock wait says=has_only
  x[threadIdx.x] = 2;
}

int main() {
  int* x;
  cudaMalloc(&x, 64 * sizeof(int));
  wait<<<1, 64>>>(x);
  cudaDeviceSynchronize();
  cudaFree(x);
}
