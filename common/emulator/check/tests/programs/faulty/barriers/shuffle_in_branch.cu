// In a branch that lanes 8 and on do not take, with the mask of those that do, 8 lanes apart.
__global__ void fold(int* x) {
  const int i = threadIdx.x;
  int value = i;
  if (i < 8) value += __shfl_xor_sync(0xff, value, 8);  // finding: inactive_source count=8
  x[i] = value;
}

int main() {
  int* x;
  cudaMalloc(&x, 32 * sizeof(int));
  fold<<<1, 32>>>(x);
  cudaDeviceSynchronize();
  cudaFree(x);
}
