// The host sums all elements while a kernel still writes some. The first ones are not affected.
__global__ void fill(int* x) {
  x[threadIdx.x] = 7;  // finding: writes
}

int main() {
  int* x;
  cudaMallocManaged(&x, 256 * sizeof(int));  // finding: allocated
  for (int i = 0; i < 256; ++i) x[i] = 1;
  fill<<<1, 64>>>(x + 128);  // finding: unfinished
  int sum = 0;
  for (int i = 0; i < 256; ++i) sum += x[i];  // finding: race called offset=512
  cudaDeviceSynchronize();
  cudaFree(x);
  return sum == 0;
}
