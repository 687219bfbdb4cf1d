// Each iteration allocates, but only the last buffer is freed: three leaks from one line.
int main() {
  int* x = nullptr;
  for (int round = 0; round < 4; ++round) cudaMalloc(&x, 256);  // finding: leak allocated count=3
  cudaFree(x);
}
