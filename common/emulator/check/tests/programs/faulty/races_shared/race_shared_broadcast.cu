// Thread 0 sets a value that all threads use, but no barrier separates the accesses.
__global__ void scale(float* x, float by) {
  __shared__ float factor;
  if (threadIdx.x == 0) factor = by;  // finding: race writes object=factor
  x[threadIdx.x] *= factor;           // finding: race reads
}

int main() {
  float* x;
  cudaMalloc(&x, 64 * sizeof(float));
  cudaMemset(x, 0, 64 * sizeof(float));
  scale<<<1, 64>>>(x, 2);
  cudaDeviceSynchronize();
  cudaFree(x);
}
