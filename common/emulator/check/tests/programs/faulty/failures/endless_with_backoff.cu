// A lock that is never released. A kernel polls it with a growing back-off, and reads the clock
// before and after.
__device__ int lock = 1;

__global__ void take(int* out, long long* longest) {
  const long long began = clock64();
  unsigned wait = 8;
  while (atomicCAS(&lock, 0, 1) != 0) {  // finding: endless poll object=lock says=never_ends
    __nanosleep(wait);
    if (wait < 256) wait *= 2;
  }
  *longest = clock64() - began;
  ++*out;
}

int main() {
  int* out;
  long long* longest;
  cudaMalloc(&out, sizeof(int));
  cudaMalloc(&longest, sizeof(long long));
  cudaMemset(out, 0, sizeof(int));
  take<<<1, 1>>>(out, longest);
  cudaDeviceSynchronize();
  cudaFree(out);
  cudaFree(longest);
}
