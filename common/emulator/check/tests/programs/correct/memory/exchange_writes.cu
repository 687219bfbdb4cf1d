// An exchange writes a word. What the word held before does not matter if nothing uses it.
__global__ void set(int* words) { atomicExch(&words[threadIdx.x], 3); }

int main() {
  int host[32], *words;
  cudaMalloc(&words, sizeof host);
  set<<<1, 32>>>(words);
  cudaMemcpy(host, words, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(words);
  return host[0] == 3 && host[31] == 3 ? 0 : 1;
}
