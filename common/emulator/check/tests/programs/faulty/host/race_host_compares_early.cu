// A loop compares results and at first looks like a polling loop: one side of the branch leads back
// to the load. But so does the other side.
__global__ void fill(int* x) {
  x[threadIdx.x] = 7;  // finding: writes
}

int main() {
  int* x;
  cudaMallocManaged(&x, 256 * sizeof(int));  // finding: allocated
  int differences = 0, lines = 0;
  fill<<<1, 256>>>(x);  // finding: unfinished
  for (int i = 0; i < 256; ++i) {
    if (x[i] != 7)  // finding: race called
      ++differences;
    else
      lines += i;
  }
  cudaDeviceSynchronize();
  cudaFree(x);
  return differences == 0 && lines > 0 ? 0 : 1;
}
