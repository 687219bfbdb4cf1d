// Each half of the warp synchronises only itself, and then reads the other half's words.
__global__ void swap(int* x) {
  __shared__ int line[32];
  const int i = threadIdx.x;
  line[i] = x[i];  // finding: race writes object=line
  __syncwarp(i < 16 ? 0x0000ffff : 0xffff0000);
  x[i] = line[i ^ 16];  // finding: race reads
}

int main() {
  int* x;
  cudaMalloc(&x, 32 * sizeof(int));
  cudaMemset(x, 0, 32 * sizeof(int));
  swap<<<1, 32>>>(x);
  cudaDeviceSynchronize();
  cudaFree(x);
}
