// As grid_look_back, with separate values and flags: fence, then flag; flag, then fence.
struct part {
  int sum;
  volatile int flag;
};

__global__ void scan(const int* x, int* y, part* parts) {
  if (threadIdx.x != 0) return;
  const int b = blockIdx.x;
  int before = 0;
  if (b > 0) {
    while (parts[b - 1].flag == 0) {
    }
    __threadfence();
    before = parts[b - 1].sum;
  }
  parts[b].sum = before + x[b];
  __threadfence();
  parts[b].flag = 1;
  y[b] = before + x[b];
}

int main() {
  int host[20], *x, *y;
  part* parts;
  for (int i = 0; i < 20; ++i) host[i] = i;
  cudaMalloc(&x, sizeof host);
  cudaMalloc(&y, sizeof host);
  cudaMalloc(&parts, 20 * sizeof(part));
  cudaMemset(parts, 0, 20 * sizeof(part));
  cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
  scan<<<20, 32>>>(x, y, parts);
  cudaMemcpy(host, y, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(y);
  cudaFree(parts);
  return host[19] == 190 ? 0 : 1;
}
