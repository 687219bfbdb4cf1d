// Ordinary streams wait for the default stream, and the default stream waits for them.
__global__ void add(int* x, int value) { x[threadIdx.x] += value; }

int main() {
  int host[32], *x;
  cudaMalloc(&x, sizeof host);
  cudaStream_t a, b;
  cudaStreamCreate(&a);
  cudaStreamCreate(&b);
  cudaMemset(x, 0, sizeof host);
  add<<<1, 32, 0, a>>>(x, 1);
  add<<<1, 32>>>(x, 2);
  add<<<1, 32, 0, b>>>(x, 3);
  cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
  cudaStreamDestroy(a);
  cudaStreamDestroy(b);
  cudaFree(x);
  return host[5] == 6 ? 0 : 1;
}
