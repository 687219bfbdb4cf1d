// A plain access reads the sum while atomic additions to it continue.
__global__ void sum(int* out) {
  __shared__ int total;
  const int i = threadIdx.x;
  if (i == 0) total = 0;
  __syncthreads();
  atomicAdd(&total, i);       // finding: race updates object=total
  if (i == 63) *out = total;  // finding: race reads
}

int main() {
  int* out;
  cudaMalloc(&out, sizeof(int));
  sum<<<1, 64>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}
