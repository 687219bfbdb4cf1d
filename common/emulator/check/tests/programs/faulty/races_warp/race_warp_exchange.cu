// Two lanes of a warp exchange words through shared memory without __syncwarp().
__global__ void swap(int* x) {
  __shared__ int line[32];
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
