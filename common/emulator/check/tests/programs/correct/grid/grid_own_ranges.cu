// Each block owns a range. Ranges begin and end within a 32-byte sector, even within a word.
__global__ void fill(unsigned char* x, int per_block) {
  const int i = threadIdx.x;
  if (i < per_block) x[blockIdx.x * per_block + i] = blockIdx.x;
}

int main() {
  unsigned char host[10 * 7], *x;
  cudaMalloc(&x, sizeof host);
  fill<<<10, 32>>>(x, 7);
  cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(x);
  return host[69] == 9 && host[62] == 8 ? 0 : 1;
}
