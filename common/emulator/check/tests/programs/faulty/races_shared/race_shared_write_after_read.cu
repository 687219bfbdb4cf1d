// A thread overwrites an element without waiting until the other warp has read it.
__global__ void rotate(int* x) {
  __shared__ int line[64];
  const int i = threadIdx.x;
  line[i] = x[i];
  __syncthreads();
  const int other = line[63 - i];  // finding: race reads object=line
  line[i] = other + 1;             // finding: race writes
  __syncthreads();
  x[i] = line[i];
}

int main() {
  int* x;
  cudaMalloc(&x, 64 * sizeof(int));
  cudaMemset(x, 0, 64 * sizeof(int));
  rotate<<<1, 64>>>(x);
  cudaDeviceSynchronize();
  cudaFree(x);
}
