// A commonly copied lock of atomicCAS and atomicExch. Without fences it protects nothing.
__device__ int lock;

__global__ void add(int* total) {
  bool done = false;
  while (!done) {
    if (atomicCAS(&lock, 0, 1) == 0) {
      *total += 1;  // finding: race any any says=after_the_lock_is_taken_at_line_7,_and_another
      atomicExch(&lock, 0);
      done = true;
    }
  }
}

int main() {
  int* total;
  cudaMalloc(&total, sizeof(int));  // finding: allocated
  cudaMemset(total, 0, sizeof(int));
  add<<<4, 1>>>(total);
  cudaDeviceSynchronize();
  cudaFree(total);
}
