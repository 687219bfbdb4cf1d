// Two threads of different warps write different values to one element.
__global__ void meet(int* x) {
  __shared__ int line[32];
  const int i = threadIdx.x;
  line[i % 32] = i;  // finding: race writes writes object=line
  __syncthreads();
  if (i < 32) x[i] = line[i];
}

int main() {
  int* x;
  cudaMalloc(&x, 32 * sizeof(int));
  meet<<<1, 64>>>(x);
  cudaDeviceSynchronize();
  cudaFree(x);
}
