// Two warpgroups ask for more registers, but the third one frees none.
__global__ void __launch_bounds__(384, 1) roles(int* x) {
  if (threadIdx.x >= 128) {
    // finding: deadlock waits|wait says=64512_registers_are_free
    asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
    x[threadIdx.x] = 1;
  }
  __syncthreads();  // finding: deadlock barrier barrier barrier
}

int main() {
  int* x;
  cudaMalloc(&x, 384 * sizeof(int));
  roles<<<1, 384>>>(x);
  cudaDeviceSynchronize();
  cudaFree(x);
}
