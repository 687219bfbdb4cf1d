// A buffer that is never freed.
int main() {
  int *x, *y;
  cudaMalloc(&x, 100);  // finding: leak allocated bytes=100
  cudaMalloc(&y, 200);
  cudaFree(y);
}
