// A write past the end of memory that a kernel itself allocates.
__global__ void build(int* out) {
  int* const list = static_cast<int*>(malloc(8 * sizeof(int)));
  // finding: out_of_bounds writes bytes=32 offset=32 count=1
  for (int i = 0; i <= 8; ++i) list[i] = i;
  out[0] = list[7];
  free(list);
}

int main() {
  int* out;
  cudaMalloc(&out, sizeof(int));
  build<<<1, 1>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}
