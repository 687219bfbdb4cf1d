// A local array of 8 elements, accessed up to element 8 (through the index in `where`).
__global__ void pick(const int* where, int* out) {
  int table[8];
  for (int i = 0; i < 8; ++i) table[where[i] & 7] = i;
  out[threadIdx.x] = table[where[threadIdx.x]];  // finding: out_of_bounds reads count=1
}

int main() {
  int host[9] = {0, 1, 2, 3, 4, 5, 6, 7, 8}, *where, *out;
  cudaMalloc(&where, sizeof host);
  cudaMalloc(&out, sizeof host);
  cudaMemcpy(where, host, sizeof host, cudaMemcpyHostToDevice);
  pick<<<1, 9>>>(where, out);
  cudaDeviceSynchronize();
  cudaFree(where);
  cudaFree(out);
}
