// A sum of doubles without an initial value, converted before it is stored.
__global__ void mean(const double* x, int* y, int n) {
  double sum;
  for (int i = 0; i < n; ++i) sum += x[i];  // finding: unset_variable reads says=sum
  y[threadIdx.x] = int(sum / n);
}

int main() {
  int *x, *y;
  cudaMalloc(&x, 256 * sizeof(int));
  cudaMalloc(&y, 256 * sizeof(int));
  cudaMemset(x, 0, 256 * sizeof(int));
  cudaMemset(y, 0, 256 * sizeof(int));
  mean<<<1, 64>>>(reinterpret_cast<double*>(x), y, 20);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
}
