// Lanes 0 to 15 name the other half of the warp.
__global__ void broadcast(int* x) {
  const int i = threadIdx.x;
  int value = i;
  if (i < 16) value = __shfl_sync(0xffff0000, i, 0);  // finding: bad_mask count=16
  x[i] = value;
}

int main() {
  int* x;
  cudaMalloc(&x, 32 * sizeof(int));
  broadcast<<<1, 32>>>(x);
  cudaDeviceSynchronize();
  cudaFree(x);
}
