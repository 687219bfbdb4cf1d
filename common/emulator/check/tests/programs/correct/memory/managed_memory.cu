// Managed memory: the host fills it, a kernel changes it, and the host reads it after waiting.
__global__ void twice(int* x, int n) {
  const int i = threadIdx.x;
  if (i < n) x[i] *= 2;
}

int main() {
  int* x;
  cudaMallocManaged(&x, 50 * sizeof(int));
  for (int i = 0; i < 50; ++i) x[i] = i;
  twice<<<1, 64>>>(x, 50);
  cudaDeviceSynchronize();
  x[49] += 1;
  twice<<<1, 64>>>(x, 50);
  cudaDeviceSynchronize();
  const bool right = x[49] == 198 && x[10] == 40;
  cudaFree(x);
  return right ? 0 : 1;
}
