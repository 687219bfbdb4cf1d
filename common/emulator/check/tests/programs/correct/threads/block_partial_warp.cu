// A block of 50 threads: the last warp has only 18, and barriers still work.
__global__ void reverse(int* x) {
  __shared__ int line[50];
  const int i = threadIdx.x;
  line[i] = x[i];
  __syncthreads();
  x[i] = line[49 - i];
  __syncwarp();
}

int main() {
  int host[50], *x;
  for (int i = 0; i < 50; ++i) host[i] = i;
  cudaMalloc(&x, sizeof host);
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  reverse<<<1, 50>>>(x);
  cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(x);
  return host[0] == 49 && host[49] == 0 ? 0 : 1;
}
