// Each round allocates, the last buffer alone is freed: one place, three buffers.
int main() {
  int* x = nullptr;
  for (int round = 0; round < 4; ++round) cudaMalloc(&x, 256);  // finding: leak allocated count=3
  cudaFree(x);
}
