// Barriers in a loop that all threads of a block run the same number of times.
__global__ void twice(int* x) {
  __shared__ int line[64];
  const int i = threadIdx.x;
  int* const mine = x + 64 * blockIdx.x;
  for (int k = 0; k < blockIdx.x; ++k) {
    line[i] = mine[i];
    __syncthreads();
    mine[i] = line[63 - i] + 1;
    __syncthreads();
  }
}

int main() {
  int host[192], *x;
  for (int i = 0; i < 192; ++i) host[i] = i % 64;
  cudaMalloc(&x, sizeof host);
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  twice<<<3, 64>>>(x);
  cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(x);
  return host[5] == 5 && host[64] == 64 && host[129] == 3 ? 0 : 1;
}
