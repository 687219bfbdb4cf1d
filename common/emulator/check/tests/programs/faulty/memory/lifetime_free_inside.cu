// Freed by a pointer that has moved on.
int main() {
  int* x;
  cudaMalloc(&x, 64);  // finding: allocated
  int* y = x + 4;
  cudaFree(y);  // finding: double_free called
  cudaFree(x);
}
