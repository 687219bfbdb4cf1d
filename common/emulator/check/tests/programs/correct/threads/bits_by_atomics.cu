// Bits of one word, set and cleared by atomics.
__global__ void set(unsigned* words, unsigned* mine) {
  __shared__ unsigned flags;
  const int i = threadIdx.x;
  if (i == 0) flags = 0;
  __syncthreads();
  atomicOr(&flags, 1u << (i % 32));
  atomicXor(&words[0], 1u << (i % 32));
  atomicAnd(&words[1], ~(1u << (i % 32)));
  __syncthreads();
  if (i == 0) mine[blockIdx.x] = flags;
}

int main() {
  unsigned host[4] = {0, ~0u, 0, 0}, *words;
  cudaMalloc(&words, sizeof host);
  cudaMemcpy(words, host, sizeof host, cudaMemcpyHostToDevice);
  set<<<2, 32>>>(words, words + 2);
  cudaMemcpy(host, words, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(words);
  return host[0] == 0 && host[1] == 0 && host[2] == ~0u && host[3] == ~0u ? 0 : 1;
}
