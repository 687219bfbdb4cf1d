// The launch lacks its third argument, so there is no dynamic shared memory at all.
__global__ void stage(int* x) {
  extern __shared__ int line[];
  line[threadIdx.x] = 1;  // finding: too_little_shared writes bytes=0 count=32 object=line
  __syncthreads();
  if (threadIdx.x == 40) x[0] = line[0];
}

int main() {
  int* x;
  cudaMalloc(&x, sizeof(int));
  stage<<<1, 32>>>(x);  // finding: called says=at_least_128_bytes
  cudaDeviceSynchronize();
  cudaFree(x);
}
