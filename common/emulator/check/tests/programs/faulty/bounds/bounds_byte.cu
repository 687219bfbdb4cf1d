// A write one byte past the end of an allocation with an odd size.
__global__ void terminate(char* text, int n) {
  text[n] = 0;  // finding: out_of_bounds writes bytes=13 offset=13 count=1
}

int main() {
  char* text;
  cudaMalloc(&text, 13);  // finding: allocated
  terminate<<<1, 1>>>(text, 13);
  cudaDeviceSynchronize();
  cudaFree(text);
}
