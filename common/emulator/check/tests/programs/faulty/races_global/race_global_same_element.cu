// Every block writes its result to the same place.
__global__ void sum(const int* x, int* out) {
  int total = 0;
  for (int i = 0; i < 8; ++i) total += x[8 * blockIdx.x + i];
  *out = total;  // finding: race writes writes
}

int main() {
  int host[32], *x, *out;
  for (int i = 0; i < 32; ++i) host[i] = i;
  cudaMalloc(&x, sizeof host);
  cudaMalloc(&out, sizeof(int));  // finding: allocated
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  sum<<<4, 1>>>(x, out);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(out);
}
