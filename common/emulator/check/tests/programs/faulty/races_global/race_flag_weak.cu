// Both sides have fences, but the flag itself is an ordinary variable.
__global__ void hand_over(int* data, int* flag, int* out) {
  if (blockIdx.x == 0) {
    *data = 42;  // finding 1: race writes
    __threadfence();
    *flag = 1;  // finding 2: race writes
  } else {
    const bool there = *flag == 1;  // finding 2: race reads
    __threadfence();
    if (there) *out = *data;  // finding 1: race reads
  }
}

int main() {
  int *data, *flag, *out;
  cudaMalloc(&data, sizeof(int));
  cudaMalloc(&flag, sizeof(int));
  cudaMalloc(&out, sizeof(int));
  cudaMemset(flag, 0, sizeof(int));
  hand_over<<<2, 1>>>(data, flag, out);
  cudaDeviceSynchronize();
  cudaFree(data);
  cudaFree(flag);
  cudaFree(out);
}
