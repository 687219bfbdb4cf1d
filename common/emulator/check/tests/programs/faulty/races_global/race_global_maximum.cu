// A comparison, then a write: another block may have written in between.
__global__ void maximum(const int* x, int* most) {
  const int mine = x[blockIdx.x];
  if (mine > *most)  // finding: race reads
    *most = mine;    // finding: race writes says=read,_compare_and_write_in_three_steps
}

int main() {
  int host[2] = {5, 3}, *x, *most;
  cudaMalloc(&x, sizeof host);
  cudaMalloc(&most, sizeof(int));  // finding: allocated
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  cudaMemset(most, 0, sizeof(int));
  maximum<<<2, 1>>>(x, most);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(most);
}
