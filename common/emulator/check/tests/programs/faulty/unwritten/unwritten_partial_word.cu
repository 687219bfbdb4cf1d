// A kernel writes two bytes of each word, and the next kernel reads the whole word.
__global__ void write_halves(short* x) { x[2 * threadIdx.x] = 3; }

__global__ void read_words(const int* x, int* y) {
  y[threadIdx.x] = x[threadIdx.x];  // finding: unwritten_read reads bytes=128 count=32
}

int main() {
  int *x, *y;
  cudaMalloc(&x, 32 * sizeof(int));  // finding: allocated
  cudaMalloc(&y, 32 * sizeof(int));
  write_halves<<<1, 32>>>(reinterpret_cast<short*>(x));
  read_words<<<1, 32>>>(x, y);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
}
