// A switch without a default.
__global__ void choose(const int* x, int* y, int n) {
  int weight;
  switch (x[threadIdx.x] + n) {
    case 0:
      weight = x[1];
      break;
    case 1:
      weight = x[2] * 3;
      break;
    case 2:
      weight = x[3] + 9;
      break;
  }
  atomicAdd(y, weight);  // finding: unset_variable reads says=weight
}

int main() {
  int *x, *y;
  cudaMalloc(&x, 256 * sizeof(int));
  cudaMalloc(&y, 256 * sizeof(int));
  cudaMemset(x, 0, 256 * sizeof(int));
  cudaMemset(y, 0, 256 * sizeof(int));
  choose<<<1, 64>>>(x, y, 3);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
}
