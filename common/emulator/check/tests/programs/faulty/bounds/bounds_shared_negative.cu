// The first thread has no left neighbour, so its address lies below shared memory.
__global__ void neighbours(int* out) {
  __shared__ int line[64];
  const int i = threadIdx.x;
  line[i] = i;
  __syncthreads();
  out[i] = line[i - 1];  // finding: out_of_bounds reads count=1
}

int main() {
  int* out;
  cudaMalloc(&out, 64 * sizeof(int));
  neighbours<<<1, 64>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}
