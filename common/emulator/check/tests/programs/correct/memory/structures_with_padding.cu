// Structures with padding are copied whole: by a kernel, and to the host.
struct item {
  char kind;
  double value;
  short tag;
};

__global__ void copy(const item* from, item* to) {
  const item mine = from[threadIdx.x];
  to[threadIdx.x] = mine;
  to[threadIdx.x].value += mine.kind;
}

__global__ void make(item* to) {
  const int i = threadIdx.x;
  to[i] = item{static_cast<char>(i), 0.5, static_cast<short>(2 * i)};
}

int main() {
  item host[32];
  item *a, *b;
  cudaMalloc(&a, sizeof host);
  cudaMalloc(&b, sizeof host);
  make<<<1, 32>>>(a);
  copy<<<1, 32>>>(a, b);
  cudaMemcpy(host, b, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(a);
  cudaFree(b);
  return host[4].value == 4.5 && host[31].tag == 62 ? 0 : 1;
}
