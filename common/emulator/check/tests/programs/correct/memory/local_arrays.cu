// Local arrays with indices known only at run time, and a recursive function.
__device__ int depth(int n) { return n <= 0 ? 0 : 1 + depth(n - 2); }

__global__ void sort(const int* x, int* out) {
  int mine[8], places[8];
  for (int i = 0; i < 8; ++i) mine[i] = x[8 * threadIdx.x + i];
  for (int i = 0; i < 8; ++i) {
    int smaller = 0;
    for (int k = 0; k < 8; ++k) smaller += mine[k] < mine[i];
    places[smaller] = mine[i];
  }
  for (int i = 0; i < 8; ++i) out[8 * threadIdx.x + i] = places[i] + depth(places[i] % 8);
}

int main() {
  int host[256], *x, *out;
  for (int i = 0; i < 256; ++i) host[i] = 7 * i % 256;
  cudaMalloc(&x, sizeof host);
  cudaMalloc(&out, sizeof host);
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  sort<<<1, 32>>>(x, out);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(out);
  return host[0] == 0 && host[1] == 7 + 4 ? 0 : 1;
}
