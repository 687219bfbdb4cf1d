// Several blocks use additions that are atomic only within a block.
__global__ void count(int* counter) {
  atomicAdd_block(counter, 1);  // finding: race updates updates
}

int main() {
  int* counter;
  cudaMalloc(&counter, sizeof(int));  // finding: allocated
  cudaMemset(counter, 0, sizeof(int));
  count<<<4, 32>>>(counter);
  cudaDeviceSynchronize();
  cudaFree(counter);
}
