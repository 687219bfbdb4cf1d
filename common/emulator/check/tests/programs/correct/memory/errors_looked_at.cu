// Calls fail, and the program reads their errors, so no error remains unchecked.
__global__ void fill(int* x) { x[threadIdx.x] = 1; }

int main() {
  int* x;
  cudaMalloc(&x, 128);
  fill<<<1, 4096>>>(x);
  if (cudaGetLastError() == cudaSuccess) return 1;
  void* huge = nullptr;
  if (cudaMalloc(&huge, 1ull << 60) != cudaErrorMemoryAllocation) return 1;
  if (cudaGetLastError() != cudaErrorMemoryAllocation) return 1;
  cudaFree(x);
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
