// A local array is filled one element past its end.
__global__ void fill(const int* where, int* out) {
  int table[6];
  for (int i = 0; i < 6; ++i) table[where[i]] = i;
  table[where[6]] = 7;  // finding: out_of_bounds writes count=32
  out[threadIdx.x] = table[where[threadIdx.x % 6]];
}

int main() {
  int host[7] = {0, 1, 2, 3, 4, 5, 6}, *where, *out;
  cudaMalloc(&where, sizeof host);
  cudaMalloc(&out, 32 * sizeof(int));
  cudaMemcpy(where, host, sizeof host, cudaMemcpyHostToDevice);
  fill<<<1, 32>>>(where, out);
  cudaDeviceSynchronize();
  cudaFree(where);
  cudaFree(out);
}
