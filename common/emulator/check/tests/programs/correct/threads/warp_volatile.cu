// One warp adds the last 64 elements, with volatile and with __syncwarp().
__global__ void sum(const int* x, int* out) {
  __shared__ volatile int partial[64];
  const int i = threadIdx.x;
  partial[i] = x[i];
  __syncthreads();
  if (i < 32) {
    for (int d = 32; d > 0; d /= 2) {
      const int mine = partial[i] + partial[i + d];
      __syncwarp();
      partial[i] = mine;
      __syncwarp();
    }
  }
  if (i == 0) *out = partial[0];
}

int main() {
  int host[64], *x, *out, total = 0;
  for (int i = 0; i < 64; ++i) host[i] = i;
  cudaMalloc(&x, sizeof host);
  cudaMalloc(&out, sizeof(int));
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  sum<<<1, 64>>>(x, out);
  cudaMemcpy(&total, out, sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(out);
  return total == 2016 ? 0 : 1;
}
