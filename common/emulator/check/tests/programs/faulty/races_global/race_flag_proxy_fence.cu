// Data, then a volatile flag. A proxy fence only orders accesses of one thread through two proxies,
// so another thread may see the flag before the data.
__device__ void fence_proxies() { asm volatile("fence.proxy.async;" ::: "memory"); }

__global__ void hand_over(int* data, volatile int* flag, int* out) {
  if (blockIdx.x == 1) {
    // finding: race writes says=between_the_write_at_line_8_and_the_write_of_the_flag
    *data = 42;
    fence_proxies();
    *flag = 1;
  } else {
    while (*flag == 0) {
    }
    fence_proxies();
    *out = *data;  // finding: race reads
  }
}

int main() {
  int *data, *flag, *out;
  cudaMalloc(&data, sizeof(int));  // finding: allocated
  cudaMalloc(&flag, sizeof(int));
  cudaMalloc(&out, sizeof(int));
  cudaMemset(flag, 0, sizeof(int));
  hand_over<<<2, 1>>>(data, flag, out);
  cudaDeviceSynchronize();
  cudaFree(data);
  cudaFree(flag);
  cudaFree(out);
}
