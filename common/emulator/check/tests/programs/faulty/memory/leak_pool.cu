// Allocated in a stream's order, and not freed.
int main() {
  int* x;
  cudaMallocAsync(&x, 100, 0);  // finding: leak allocated
  cudaStreamSynchronize(0);
}
