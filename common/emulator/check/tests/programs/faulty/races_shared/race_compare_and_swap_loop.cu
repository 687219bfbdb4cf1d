// A maximum by compare-and-swap. The first access to the word is a plain read, while other threads
// change it.
__global__ void maximum(int* largest) {
  const int value = static_cast<int>(blockIdx.x);
  int seen = *largest;  // finding: race reads says=pointer_to_volatile
  while (seen < value) {
    const int before = atomicCAS(largest, seen, value);  // finding: race updates
    if (before == seen) return;
    seen = before;
  }
}

int main() {
  int* largest;
  cudaMalloc(&largest, sizeof(int));  // finding: allocated
  cudaMemset(largest, 0, sizeof(int));
  maximum<<<4, 1>>>(largest);
  cudaDeviceSynchronize();
  cudaFree(largest);
}
