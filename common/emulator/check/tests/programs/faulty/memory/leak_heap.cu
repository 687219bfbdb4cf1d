// A kernel allocates memory and does not free it.
__global__ void build(int* out) {
  int* const list = static_cast<int*>(malloc(32));  // finding: leak
  list[0] = 1;
  *out = list[0];
}

int main() {
  int* out;
  cudaMalloc(&out, sizeof(int));
  build<<<1, 1>>>(out);
  cudaDeviceSynchronize();
  cudaFree(out);
}
