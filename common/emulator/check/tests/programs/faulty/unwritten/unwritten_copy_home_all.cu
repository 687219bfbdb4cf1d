// The program never launches the kernel.
int main() {
  float *y, host[16];
  cudaMalloc(&y, sizeof host);  // finding: allocated
  // finding: unwritten_copy called bytes=64 offset=0
  cudaMemcpy(host, y, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(y);
}
