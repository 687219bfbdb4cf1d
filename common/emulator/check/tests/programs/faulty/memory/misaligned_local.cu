// Words are read from a local array of bytes, at any index.
__global__ void parse(const unsigned char* x, int* out) {
  unsigned char line[16];
  for (int i = 0; i < 16; ++i) line[i] = x[i];
  // finding: misaligned reads count=6
  out[threadIdx.x] = *reinterpret_cast<int*>(line + x[threadIdx.x]);
}

int main() {
  unsigned char host[16], *x;
  for (int i = 0; i < 16; ++i) host[i] = i;
  int* out;
  cudaMalloc(&x, 16);
  cudaMalloc(&out, 8 * sizeof(int));
  cudaMemcpy(x, host, 16, cudaMemcpyHostToDevice);
  parse<<<1, 8>>>(x, out);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(out);
}
