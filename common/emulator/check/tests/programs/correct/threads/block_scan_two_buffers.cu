// A scan that reads one buffer and writes the other: one barrier per level is enough.
__global__ void scan(int* x) {
  __shared__ int line[2][128];
  const int i = threadIdx.x;
  int from = 0;
  line[0][i] = x[i];
  __syncthreads();
  for (int d = 1; d < 128; d *= 2) {
    line[1 - from][i] = line[from][i] + (i >= d ? line[from][i - d] : 0);
    from = 1 - from;
    __syncthreads();
  }
  x[i] = line[from][i];
}

int main() {
  int host[128], *x;
  for (int i = 0; i < 128; ++i) host[i] = 2;
  cudaMalloc(&x, sizeof host);
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  scan<<<1, 128>>>(x);
  cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(x);
  return host[127] == 256 ? 0 : 1;
}
