// A counter that follows a 2-byte header.
__global__ void count(char* message) {
  atomicAdd(reinterpret_cast<int*>(message + 2), 1);  // finding: misaligned updates count=32
}

int main() {
  char* message;
  cudaMalloc(&message, 16);  // finding: allocated
  cudaMemset(message, 0, 16);
  count<<<1, 32>>>(message);
  cudaDeviceSynchronize();
  cudaFree(message);
}
