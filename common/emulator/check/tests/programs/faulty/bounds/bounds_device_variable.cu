// A __device__ array with one counter too few.
__device__ int counts[8];

__global__ void count(int kinds) {
  // finding: out_of_bounds updates object=counts bytes=32 offset=32 count=3
  atomicAdd(&counts[threadIdx.x % kinds], 1);
}

int main() {
  count<<<1, 27>>>(9);
  cudaDeviceSynchronize();
}
