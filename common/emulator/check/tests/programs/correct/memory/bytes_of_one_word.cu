// Neighbouring threads write neighbouring bytes, even across warps and blocks.
__global__ void fill(unsigned char* x, short* y) {
  __shared__ unsigned char line[66];
  const int i = threadIdx.x;
  line[i + 1] = i;
  if (i < 2) line[65 * i] = 7;
  __syncthreads();
  x[blockIdx.x * 65 + i] = line[i];
  if (i == 0) x[blockIdx.x * 65 + 64] = line[65];
  y[blockIdx.x * 64 + i] = line[i + 1];
}

int main() {
  unsigned char host[195], *x;
  short halves[192], *y;
  cudaMalloc(&x, sizeof host);
  cudaMalloc(&y, sizeof halves);
  fill<<<3, 64>>>(x, y);
  cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
  cudaMemcpy(halves, y, sizeof halves, cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(y);
  return host[0] == 7 && host[129] == 7 && host[194] == 7 && halves[191] == 63 ? 0 : 1;
}
