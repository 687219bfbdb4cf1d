// A tile with a halo, one element of which no thread fills.
__global__ void border(int* out) {
  extern __shared__ int tile[];  // blockDim.x + 1 elements
  const int i = threadIdx.x;
  tile[i] = i;
  __syncthreads();
  out[i] = tile[i + 1];  // finding: unwritten_read reads bytes=260 offset=256 count=1
}

int main() {
  int* out;
  cudaMalloc(&out, 64 * sizeof(int));
  border<<<1, 64, 65 * sizeof(int)>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}
