// Half of the warps call __syncthreads_count(), the others __syncthreads().
__global__ void mixed(int* x) {
  const int i = threadIdx.x;
  if (i < 32) {
    x[i] = __syncthreads_count(i < 5);  // finding: barrier_divergence waits
  } else {
    __syncthreads();  // finding: barrier_divergence waits
    x[i] = i;
  }
}

int main() {
  int* x;
  cudaMalloc(&x, 64 * sizeof(int));
  mixed<<<1, 64>>>(x);
  cudaDeviceSynchronize();
  cudaFree(x);
}
