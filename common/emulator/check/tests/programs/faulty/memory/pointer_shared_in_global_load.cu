// A load from global memory gets an address in shared memory.
__global__ void confuse(int* out) {
  __shared__ int line[32];
  line[threadIdx.x] = threadIdx.x;
  __syncthreads();
  int value;
  // finding: wrong_pointer reads count=32
  asm volatile("ld.global.s32 %0, [%1];" : "=r"(value) : "l"(line + threadIdx.x) : "memory");
  out[threadIdx.x] = value;
}

int main() {
  int* out;
  cudaMalloc(&out, 32 * sizeof(int));
  confuse<<<1, 32>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}
