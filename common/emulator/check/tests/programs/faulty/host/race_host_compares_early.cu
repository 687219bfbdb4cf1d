// A loop compares results and looks like a wait at first sight: the branch that is not taken comes
// back to the load, but so does the other.
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
