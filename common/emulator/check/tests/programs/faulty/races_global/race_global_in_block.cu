// An array is shifted in place: a thread reads an element that its neighbour overwrites.
__global__ void shift(int* x, int n) {
  const int i = threadIdx.x;
  if (i + 1 < n) x[i] = x[i + 1];  // finding: race reads writes
}

int main() {
  int* x;
  cudaMalloc(&x, 128 * sizeof(int));  // finding: allocated
  cudaMemset(x, 0, 128 * sizeof(int));
  shift<<<1, 128>>>(x, 128);
  cudaDeviceSynchronize();
  cudaFree(x);
}
