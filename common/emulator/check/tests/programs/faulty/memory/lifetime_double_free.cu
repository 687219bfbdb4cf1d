// Two variables hold one pointer, and each is freed.
int main() {
  int* x;
  cudaMalloc(&x, 64);  // finding: allocated
  int* const y = x;
  cudaFree(x);  // finding: freed
  cudaFree(y);  // finding: double_free called
}
