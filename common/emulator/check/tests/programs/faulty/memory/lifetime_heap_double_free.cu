// A kernel frees the same memory twice.
__global__ void build(int* out) {
  int* const list = static_cast<int*>(malloc(8 * sizeof(int)));
  list[0] = 4;
  out[0] = list[0];
  free(list);
  if (out[0] == 4) free(list);  // finding: double_free frees
}

int main() {
  int* out;
  cudaMalloc(&out, sizeof(int));
  build<<<1, 1>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}
