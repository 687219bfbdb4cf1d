// A flag that is not volatile: the compiler reads it once, before the loop.
__global__ void wait(const int* flag, int* out) {
  // finding: endless says=through_a_pointer_to_volatile
  while (*flag == 0) {
  }
  *out = 1;
}

int main() {
  int *flag, *out;
  cudaMalloc(&flag, sizeof(int));
  cudaMalloc(&out, sizeof(int));
  cudaMemset(flag, 0, sizeof(int));
  wait<<<1, 1>>>(flag, out);
  cudaDeviceSynchronize();
  cudaFree(flag);
  cudaFree(out);
}
