// The counter was never set to zero.
__global__ void count(int* counter) {
  atomicAdd(counter, 1);  // finding: unwritten_read updates|reads bytes=4 offset=0
}

int main() {
  int* counter;
  cudaMalloc(&counter, sizeof(int));  // finding: allocated
  count<<<1, 64>>>(counter);
  cudaDeviceSynchronize();
  cudaFree(counter);
}
