// Memory is written by memset (whole, by rows, asynchronously) and by copies, whole and in parts.
#include <cstring>

__global__ void add(const int* x, const int* y, int* out) {
  const int i = threadIdx.x;
  out[i] = x[i] + y[i];
}

int main() {
  int host[64], *x, *y, *out;
  for (int i = 0; i < 64; ++i) host[i] = i;
  cudaMalloc(&x, sizeof host);
  cudaMalloc(&y, sizeof host);
  cudaMalloc(&out, sizeof host);
  cudaMemset(x, 0, sizeof host);
  cudaMemcpy(y, host, 100, cudaMemcpyHostToDevice);
  cudaMemcpy(y + 25, host + 25, sizeof host - 100, cudaMemcpyHostToDevice);
  add<<<1, 64>>>(x, y, out);
  cudaMemcpy(x, out, sizeof host, cudaMemcpyDeviceToDevice);
  cudaMemset2DAsync(y, 32, 0, 32, 8, nullptr);
  add<<<1, 64>>>(x, y, out);
  std::memset(host, 0, sizeof host);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(y);
  cudaFree(out);
  return host[63] == 63 ? 0 : 1;
}
