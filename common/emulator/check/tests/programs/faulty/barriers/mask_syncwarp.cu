// Every lane waits with the mask of the lanes below it.
__global__ void wait(int* x) {
  const int i = threadIdx.x;
  x[i] = i;
  __syncwarp(i == 0 ? 1u : (1u << i) - 1);  // finding: bad_mask
  x[i] += 1;
}

int main() {
  int* x;
  cudaMalloc(&x, 32 * sizeof(int));
  wait<<<1, 32>>>(x);
  cudaDeviceSynchronize();
  cudaFree(x);
}
