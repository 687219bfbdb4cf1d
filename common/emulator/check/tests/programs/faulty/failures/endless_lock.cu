// One of two paths does not release the lock.
__device__ int lock, entries;

__global__ void take() {
  while (atomicCAS(&lock, 0, 1) != 0) {  // finding: endless
  }
  __threadfence();
  entries = entries + 1;
  if (entries != 2) {
    __threadfence();
    atomicExch(&lock, 0);
  }
}

int main() {
  take<<<4, 1>>>();
  cudaDeviceSynchronize();
}
