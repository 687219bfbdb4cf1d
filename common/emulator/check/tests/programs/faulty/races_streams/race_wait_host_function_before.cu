// The host polls the flag of a host function, but that function runs before the work.
#include <atomic>

__global__ void produce(int* x) {
  x[threadIdx.x] = 1;  // finding: race writes
}

__global__ void consume(const int* x, int* y) {
  y[threadIdx.x] = x[threadIdx.x];  // finding: race reads
}

void set(void* at) { *static_cast<std::atomic<int>*>(at) = 1; }

int main() {
  int *x, *y;
  cudaMalloc(&x, 32 * sizeof(int));  // finding: allocated
  cudaMalloc(&y, 32 * sizeof(int));
  cudaStream_t a, b;
  cudaStreamCreate(&a);
  cudaStreamCreate(&b);
  std::atomic<int> called{0};
  cudaLaunchHostFunc(a, set, &called);
  produce<<<1, 32, 0, a>>>(x);
  while (called == 0) {
  }
  consume<<<1, 32, 0, b>>>(x, y);
  cudaDeviceSynchronize();
  cudaStreamDestroy(a);
  cudaStreamDestroy(b);
  cudaFree(x);
  cudaFree(y);
}
