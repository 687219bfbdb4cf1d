// The bins of a block's histogram start with the values that the previous block left there.
__global__ void histogram(const int* x, int* out) {
  __shared__ int bins[32];
  // finding: unwritten_read updates|reads object=bins bytes=128
  atomicAdd(&bins[x[threadIdx.x]], 1);
  __syncthreads();
  if (threadIdx.x < 32) out[threadIdx.x] = bins[threadIdx.x];
}

int main() {
  int host[64], *x, *out;
  for (int i = 0; i < 64; ++i) host[i] = i % 32;
  cudaMalloc(&x, sizeof host);
  cudaMalloc(&out, 32 * sizeof(int));
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  histogram<<<1, 64>>>(x, out);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(out);
}
