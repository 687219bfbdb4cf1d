// The 3 bytes between kind and value belong to no member; a comparison of whole words reads them.
struct item {
  char kind;
  int value;
};

__global__ void fill(item* x) {
  x[threadIdx.x].kind = 1;
  x[threadIdx.x].value = 2;
}

__global__ void hash(const int2* x, int* y) {
  const int2 words = x[threadIdx.x];  // finding: unwritten_read reads bytes=256 count=32
  y[threadIdx.x] = 31 * words.x + words.y;
}

int main() {
  item* x;
  int* y;
  cudaMalloc(&x, 32 * sizeof(item));  // finding: allocated
  cudaMalloc(&y, 32 * sizeof(int));
  fill<<<1, 32>>>(x);
  hash<<<1, 32>>>(reinterpret_cast<const int2*>(x), y);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
}
