// No block can have 2048 threads, so the kernel never runs, and no call checks for the error.
__global__ void fill(int* x) { x[threadIdx.x] = 1; }

int main() {
  int* x;
  cudaMalloc(&x, 2048 * sizeof(int));
  fill<<<1, 2048>>>(x);  // finding: unchecked_error called
  cudaFree(x);
}
