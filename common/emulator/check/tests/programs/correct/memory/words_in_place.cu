// Every thread reads, changes and writes its own words many times, with and without vectors.
__global__ void steps(int* x, int4* v, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  for (int k = 0; k < 5; ++k) x[i] = 3 * x[i] + k;
  int4 q = v[i];
  q.x += q.w;
  v[i] = q;
  reinterpret_cast<int*>(v + i)[2] = q.x;
}

int main() {
  const int n = 100;
  int host[4 * n], *x;
  int4* v;
  for (int i = 0; i < 4 * n; ++i) host[i] = 1;
  cudaMalloc(&x, n * sizeof(int));
  cudaMalloc(&v, n * sizeof(int4));
  cudaMemcpy(x, host, n * sizeof(int), cudaMemcpyHostToDevice);
  cudaMemcpy(v, host, n * sizeof(int4), cudaMemcpyHostToDevice);
  steps<<<2, 64>>>(x, v, n);
  cudaMemcpy(host, v, n * sizeof(int4), cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(v);
  return host[4 * n - 2] == 2 ? 0 : 1;
}
