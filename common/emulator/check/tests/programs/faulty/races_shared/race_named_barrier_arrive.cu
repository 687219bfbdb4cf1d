// The consumer only arrives at the barrier and continues, although it should wait.
__global__ void hand_over(int* x) {
  __shared__ int line[32];
  const int lane = threadIdx.x % 32;
  if (threadIdx.x < 32) {
    line[lane] = lane;  // finding: race writes object=line
    asm volatile("bar.sync 1, 64;" ::: "memory");
  } else {
    asm volatile("bar.arrive 1, 64;" ::: "memory");
    x[lane] = line[31 - lane];  // finding: race reads
  }
}

int main() {
  int* x;
  cudaMalloc(&x, 32 * sizeof(int));
  hand_over<<<1, 64>>>(x);
  cudaDeviceSynchronize();
  cudaFree(x);
}
