// Each thread writes its element and reads another warp's, with no barrier in between.
__global__ void reverse(int* x) {
  __shared__ int line[64];
  const int i = threadIdx.x;
  line[i] = x[i];       // finding: race writes object=line
  x[i] = line[63 - i];  // finding: race reads
}

int main() {
  int* x;
  cudaMalloc(&x, 64 * sizeof(int));
  cudaMemset(x, 0, 64 * sizeof(int));
  reverse<<<1, 64>>>(x);
  cudaDeviceSynchronize();
  cudaFree(x);
}
