// Two warps wait for each other at two named barriers, in opposite orders.
__global__ void cross(int* x) {
  if (threadIdx.x < 32) {
    asm volatile("bar.sync 1, 64;" ::: "memory");  // finding: deadlock wait says=same_order
    asm volatile("bar.sync 2, 64;" ::: "memory");
  } else {
    asm volatile("bar.sync 2, 64;" ::: "memory");  // finding: deadlock wait
    asm volatile("bar.sync 1, 64;" ::: "memory");
  }
  x[threadIdx.x] = 1;
}

int main() {
  int* x;
  cudaMalloc(&x, 64 * sizeof(int));
  cross<<<1, 64>>>(x);
  cudaDeviceSynchronize();
  cudaFree(x);
}
