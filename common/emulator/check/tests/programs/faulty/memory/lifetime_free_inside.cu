// The program frees a pointer into the middle of the buffer.
int main() {
  int* x;
  cudaMalloc(&x, 64);  // finding: allocated
  int* y = x + 4;
  cudaFree(y);  // finding: double_free called
  cudaFree(x);
}
