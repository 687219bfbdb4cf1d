// A structure keeps a pointer to an array that has been freed.
struct list {
  const int* items;
  int count;
};

__global__ void sum(list l, int* out) {
  int total = 0;
  // finding: use_after_free reads bytes=40 count=10
  for (int i = 0; i < l.count; ++i) total += l.items[i];
  *out = total;
}

int main() {
  int *items, *out;
  cudaMalloc(&items, 10 * sizeof(int));  // finding: allocated
  cudaMalloc(&out, sizeof(int));
  cudaMemset(items, 0, 10 * sizeof(int));
  cudaFree(items);  // finding: freed
  sum<<<1, 1>>>(list{items, 10}, out);
  cudaDeviceSynchronize();
  cudaFree(out);
}
