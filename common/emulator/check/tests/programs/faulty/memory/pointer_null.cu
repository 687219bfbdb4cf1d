// The allocation was forgotten.
__global__ void fill(int* x) {
  x[threadIdx.x] = 1;  // finding: out_of_bounds writes count=32
}

int main() {
  int* x = nullptr;
  fill<<<1, 32>>>(x);
  cudaDeviceSynchronize();
}
