// Dynamic shared memory that holds bytes first and doubles after them.
__global__ void pack(double* out, int flags) {
  extern __shared__ double memory[];
  char* const flag = reinterpret_cast<char*>(memory);
  double* const value = reinterpret_cast<double*>(flag + flags);
  if (threadIdx.x < flags) flag[threadIdx.x] = 1;
  value[threadIdx.x] = 1.5;  // finding 1: misaligned writes count=16
  __syncthreads();
  out[threadIdx.x] = value[15 - threadIdx.x];  // finding 2: misaligned reads count=16
}

int main() {
  double* out;
  cudaMalloc(&out, 16 * sizeof(double));
  pack<<<1, 16, 160>>>(out, 10);
  cudaDeviceSynchronize();
  cudaFree(out);
}
