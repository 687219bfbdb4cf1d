// Two streams work on two buffers, and on halves of a third.
__global__ void fill(int* x, int value) { x[threadIdx.x] = value; }

int main() {
  int host[64], *x, *y, *both;
  cudaMalloc(&x, 128);
  cudaMalloc(&y, 128);
  cudaMalloc(&both, 256);
  cudaStream_t a, b;
  cudaStreamCreate(&a);
  cudaStreamCreate(&b);
  fill<<<1, 32, 0, a>>>(x, 1);
  fill<<<1, 32, 0, b>>>(y, 2);
  fill<<<1, 32, 0, a>>>(both, 3);
  fill<<<1, 32, 0, b>>>(both + 32, 4);
  cudaStreamSynchronize(a);
  fill<<<1, 32, 0, b>>>(x, 5);
  cudaStreamSynchronize(b);
  cudaMemcpy(host, both, 256, cudaMemcpyDeviceToHost);
  cudaStreamDestroy(a);
  cudaStreamDestroy(b);
  cudaFree(x);
  cudaFree(y);
  cudaFree(both);
  return host[0] == 3 && host[63] == 4 ? 0 : 1;
}
