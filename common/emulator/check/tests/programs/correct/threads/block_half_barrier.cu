// Each half of a block synchronises separately.
__global__ void reverse(int* x) {
  __shared__ int line[128];
  const int i = threadIdx.x, half = i / 64;
  line[i] = x[i];
  asm volatile("bar.sync %0, 64;" ::"r"(half + 1) : "memory");
  x[i] = line[64 * half + 63 - i % 64];
}

int main() {
  int host[128], *x;
  for (int i = 0; i < 128; ++i) host[i] = i;
  cudaMalloc(&x, sizeof host);
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  reverse<<<1, 128>>>(x);
  cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(x);
  return host[0] == 63 && host[127] == 64 ? 0 : 1;
}
