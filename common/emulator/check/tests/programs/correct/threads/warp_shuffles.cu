// Shuffles of every kind, a partial warp at the end of the block, and a mask from a ballot.
__global__ void sums(const int* x, int* out, int n) {
  const int i = threadIdx.x;
  const unsigned mask = __ballot_sync(i / 32 == 2 ? 0xffu : ~0u, i < n);
  if (i >= n) return;
  int mine = x[i];
  for (int d = 1; d < 32; d *= 2) {
    const int other = __shfl_up_sync(mask, mine, d);
    if (i % 32 >= d) mine += other;
  }
  const int first = __shfl_sync(mask, mine, 0);
  out[i] = mine - first + __any_sync(mask, mine < 0);
}

int main() {
  int host[70], *x, *out;
  for (int i = 0; i < 70; ++i) host[i] = 1;
  cudaMalloc(&x, sizeof host);
  cudaMalloc(&out, sizeof host);
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  sums<<<1, 72>>>(x, out, 70);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(out);
  return host[31] == 31 && host[69] == 5 ? 0 : 1;
}
