// A histogram in shared memory with 100 bins, for values up to 127.
__global__ void histogram(const unsigned char* x, int* out) {
  __shared__ int bins[100];
  const int i = threadIdx.x;
  if (i < 100) bins[i] = 0;
  __syncthreads();
  atomicAdd(&bins[x[i]], 1);  // finding: out_of_bounds updates object=bins bytes=400 count=28
  __syncthreads();
  if (i < 100) out[i] = bins[i];
}

int main() {
  unsigned char host[128], *x;
  for (int i = 0; i < 128; ++i) host[i] = i;
  int* out;
  cudaMalloc(&x, 128);
  cudaMalloc(&out, 100 * sizeof(int));
  cudaMemcpy(x, host, 128, cudaMemcpyHostToDevice);
  histogram<<<1, 128>>>(x, out);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(out);
}
