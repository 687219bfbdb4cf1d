// All lanes execute a vote with mask 1, which names only lane 0.
__global__ void vote(int* x) {
  const int i = threadIdx.x;
  x[i] = __any_sync(1, i == 3);  // finding: bad_mask count=31
}

int main() {
  int* x;
  cudaMalloc(&x, 32 * sizeof(int));
  vote<<<1, 32>>>(x);
  cudaDeviceSynchronize();
  cudaFree(x);
}
