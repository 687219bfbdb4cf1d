// Memory is allocated in the order of a stream and never freed.
int main() {
  int* x;
  cudaMallocAsync(&x, 100, 0);  // finding: leak allocated
  cudaStreamSynchronize(0);
}
