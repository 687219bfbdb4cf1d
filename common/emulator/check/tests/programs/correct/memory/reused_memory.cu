// Buffers of one size are allocated and freed; each is filled before it is read.
__global__ void fill(int* x, int value) { x[threadIdx.x] = value; }
__global__ void add(const int* x, int* sum) { sum[threadIdx.x] += x[threadIdx.x]; }

int main() {
  int host[64], *sum;
  cudaMalloc(&sum, sizeof host);
  cudaMemset(sum, 0, sizeof host);
  for (int round = 1; round <= 5; ++round) {
    int* x;
    cudaMalloc(&x, sizeof host);
    fill<<<1, 64>>>(x, round);
    add<<<1, 64>>>(x, sum);
    cudaFree(x);
  }
  cudaMemcpy(host, sum, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(sum);
  return host[63] == 15 ? 0 : 1;
}
