// The host waits for another stream than the one whose results it reads.
__global__ void fill(int* x) {
  x[threadIdx.x] = 7;  // finding: writes
}

int main() {
  int *a, *b;
  cudaMallocManaged(&a, 128);  // finding: allocated
  cudaMallocManaged(&b, 128);
  cudaStream_t s, t;
  cudaStreamCreate(&s);
  cudaStreamCreate(&t);
  fill<<<1, 32, 0, t>>>(b);
  fill<<<1, 32, 0, s>>>(a);  // finding: unfinished
  cudaStreamSynchronize(t);
  int sum = b[3];
  sum += a[3];  // finding: race called
  cudaDeviceSynchronize();
  sum += a[3];
  cudaStreamDestroy(s);
  cudaStreamDestroy(t);
  cudaFree(a);
  cudaFree(b);
  return sum == 0;
}
