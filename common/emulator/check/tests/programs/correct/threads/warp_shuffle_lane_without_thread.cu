// A block of 40 threads: lanes 8 and above of the second warp do not exist, and no thread uses a
// value that is read from them.
__global__ void next(int* out) {
  const int i = threadIdx.x, lanes = i < 32 ? 32 : 8;
  const unsigned mask = i < 32 ? ~0u : 0xffu;
  const int from = i % 32 + 1 < lanes ? i % 32 + 1 : i % 32;
  out[i] = __shfl_sync(mask, i, from);
}

int main() {
  int host[40], *out;
  cudaMalloc(&out, sizeof host);
  next<<<1, 40>>>(out);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(out);
  return host[0] == 1 && host[31] == 31 && host[38] == 39 ? 0 : 1;
}
