// All four warps arrive at a barrier for 64 threads, so any two warps open it.
__global__ void exchange(int* x) {
  __shared__ int line[128];
  const int i = threadIdx.x;
  line[i] = i;  // finding: race writes object=line
  asm volatile("bar.sync 1, 64;" ::: "memory");
  x[i] = line[127 - i];  // finding: race reads
}

int main() {
  int* x;
  cudaMalloc(&x, 128 * sizeof(int));
  exchange<<<1, 128>>>(x);
  cudaDeviceSynchronize();
  cudaFree(x);
}
