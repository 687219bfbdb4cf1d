// The consumer waits at barrier 1, but the producer arrives at barrier 2.
__global__ void hand_over(int* x) {
  if (threadIdx.x < 32) {
    x[threadIdx.x] = 1;
    asm volatile("bar.arrive 2, 64;" ::: "memory");
  } else {
    asm volatile("bar.sync 1, 64;" ::: "memory");  // finding: deadlock wait says=have_exited
    x[threadIdx.x] = 2;
  }
}

int main() {
  int* x;
  cudaMalloc(&x, 64 * sizeof(int));
  hand_over<<<1, 64>>>(x);
  cudaDeviceSynchronize();
  cudaFree(x);
}
