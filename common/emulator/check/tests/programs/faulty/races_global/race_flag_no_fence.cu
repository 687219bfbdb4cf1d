// Data, then a volatile flag, but nothing orders the two writes.
__global__ void hand_over(int* data, volatile int* flag, int* out) {
  if (blockIdx.x == 1) {
    *data = 42;  // finding: race writes
    *flag = 1;
  } else {
    while (*flag == 0) {
    }
    *out = *data;  // finding: race reads
  }
}

int main() {
  int *data, *flag, *out;
  cudaMalloc(&data, sizeof(int));  // finding: allocated
  cudaMalloc(&flag, sizeof(int));
  cudaMalloc(&out, sizeof(int));
  cudaMemset(flag, 0, sizeof(int));
  hand_over<<<2, 1>>>(data, flag, out);
  cudaDeviceSynchronize();
  cudaFree(data);
  cudaFree(flag);
  cudaFree(out);
}
