// The lanes of the mask read from a lane that the mask does not name.
__global__ void broadcast(int* x) {
  const int i = threadIdx.x;
  int value = i;
  if (i < 16) value = __shfl_sync(0x0000ffff, i, 20);  // finding: inactive_source count=16
  x[i] = value;
}

int main() {
  int* x;
  cudaMalloc(&x, 32 * sizeof(int));
  broadcast<<<1, 32>>>(x);
  cudaDeviceSynchronize();
  cudaFree(x);
}
