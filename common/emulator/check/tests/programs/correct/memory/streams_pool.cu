// Memory from a pool, allocated and freed in the order of a stream.
__global__ void fill(int* x, int value) { x[threadIdx.x] = value; }

int main() {
  int host[32], *x;
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  for (int round = 0; round < 3; ++round) {
    cudaMallocAsync(&x, sizeof host, stream);
    fill<<<1, 32, 0, stream>>>(x, round);
    cudaMemcpyAsync(host, x, sizeof host, cudaMemcpyDeviceToHost, stream);
    cudaFreeAsync(x, stream);
  }
  cudaStreamSynchronize(stream);
  cudaStreamDestroy(stream);
  return host[31] == 2 ? 0 : 1;
}
