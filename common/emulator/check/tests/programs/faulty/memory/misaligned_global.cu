// An int at an odd address.
__global__ void first_word(const char* text, int* out) {
  out[0] = *reinterpret_cast<const int*>(text + 1);  // finding: misaligned reads count=1
}

int main() {
  char* text;
  int* out;
  cudaMalloc(&text, 16);  // finding: allocated
  cudaMalloc(&out, sizeof(int));
  cudaMemset(text, 0, 16);
  first_word<<<1, 1>>>(text, out);
  cudaDeviceSynchronize();
  cudaFree(text);
  cudaFree(out);
}
