// Two warpgroups ask for more registers. The third one exits without freeing any.
__global__ void __launch_bounds__(384, 1) roles(int* x) {
  if (threadIdx.x < 128) return;
  // finding: deadlock wait says=0_of_the_16128_registers
  asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
  x[threadIdx.x] = 1;
}

int main() {
  int* x;
  cudaMalloc(&x, 384 * sizeof(int));
  roles<<<1, 384>>>(x);
  cudaDeviceSynchronize();
  cudaFree(x);
}
