// A grid of 0 blocks, because an integer division rounded down.
__global__ void fill(int* x) { x[threadIdx.x] = 1; }

int main() {
  const int n = 100;
  int* x;
  cudaMalloc(&x, n * sizeof(int));
  fill<<<n / 256, 256>>>(x);  // finding: unchecked_error called
  cudaDeviceSynchronize();
  cudaFree(x);
}
