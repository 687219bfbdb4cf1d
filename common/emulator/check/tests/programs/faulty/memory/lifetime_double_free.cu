// Two variables hold the same pointer, and the program frees both.
int main() {
  int* x;
  cudaMalloc(&x, 64);  // finding: allocated
  int* const y = x;
  cudaFree(x);  // finding: freed
  cudaFree(y);  // finding: double_free called
}
