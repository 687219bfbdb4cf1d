// Whole blocks return before the barrier, so none of their threads wait there.
__global__ void reverse(int* x, int n) {
  __shared__ int line[64];
  const int first = blockIdx.x * 64, i = threadIdx.x;
  if (first >= n) return;
  line[i] = x[first + i];
  __syncthreads();
  x[first + i] = line[63 - i];
}

int main() {
  int host[128], *x;
  for (int i = 0; i < 128; ++i) host[i] = i;
  cudaMalloc(&x, sizeof host);
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  reverse<<<4, 64>>>(x, 128);
  cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(x);
  return host[0] == 63 && host[127] == 64 ? 0 : 1;
}
