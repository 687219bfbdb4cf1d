// A kernel reads memory that it has freed itself.
__global__ void build(int* out) {
  int* const list = static_cast<int*>(malloc(8 * sizeof(int)));
  list[3] = 4;
  free(list);
  out[0] = list[3];  // finding: use_after_free reads bytes=32 offset=12 count=1
}

int main() {
  int* out;
  cudaMalloc(&out, sizeof(int));
  build<<<1, 1>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}
