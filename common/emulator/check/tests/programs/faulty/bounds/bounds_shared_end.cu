// The last thread writes one element past the only array in shared memory.
__global__ void shift(int* out) {
  __shared__ int line[64];
  const int i = threadIdx.x;
  if (i == 0) line[0] = 0;
  line[i + 1] = i;  // finding: out_of_bounds writes object=line bytes=256 offset=256 count=1
  __syncthreads();
  out[i] = line[i];
}

int main() {
  int* out;
  cudaMalloc(&out, 64 * sizeof(int));
  shift<<<1, 64>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}
