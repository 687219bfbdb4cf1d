// Lanes 0 to 7 take a branch, and their mask is right, but they read from lanes 8 to 15.
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
