// __syncthreads_count, _and and _or are barriers.
__global__ void count(const int* x, int* out) {
  __shared__ int line[96];
  const int i = threadIdx.x;
  line[i] = x[i];
  const int odd = __syncthreads_count(x[i] % 2);
  const int other = line[95 - i];
  const int all = __syncthreads_and(other >= 0);
  line[i] = other;
  const int any = __syncthreads_or(other > 94);
  out[i] = 100 * odd + 10 * all + any + line[95 - i];
}

int main() {
  int host[96], *x, *out;
  for (int i = 0; i < 96; ++i) host[i] = i;
  cudaMalloc(&x, sizeof host);
  cudaMalloc(&out, sizeof host);
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  count<<<1, 96>>>(x, out);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(out);
  return host[0] == 4811 && host[95] == 4906 ? 0 : 1;
}
