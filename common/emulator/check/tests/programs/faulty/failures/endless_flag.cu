// A block waits for a flag that no thread sets.
__global__ void wait(volatile int* flag, int* out) {
  while (*flag == 0) {  // finding: endless
  }
  *out = 1;
}

int main() {
  int *flag, *out;
  cudaMalloc(&flag, sizeof(int));
  cudaMalloc(&out, sizeof(int));
  cudaMemset(flag, 0, sizeof(int));
  wait<<<2, 1>>>(flag, out);
  cudaDeviceSynchronize();
  cudaFree(flag);
  cudaFree(out);
}
