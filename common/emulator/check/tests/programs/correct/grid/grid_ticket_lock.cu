// A ticket lock that guards ordinary data between blocks.
__device__ unsigned next_ticket, serving;

__global__ void append(int* list, int* count) {
  if (threadIdx.x != 0) return;
  const unsigned mine = atomicAdd(&next_ticket, 1);
  while (atomicAdd(&serving, 0) != mine) {
  }
  __threadfence();
  list[*count] = blockIdx.x;
  *count += 1;
  __threadfence();
  atomicAdd(&serving, 1);
}

int main() {
  int host[12], *list, *count, total = 0;
  cudaMalloc(&list, sizeof host);
  cudaMalloc(&count, sizeof(int));
  cudaMemset(count, 0, sizeof(int));
  append<<<12, 32>>>(list, count);
  cudaMemcpy(host, list, sizeof host, cudaMemcpyDeviceToHost);
  for (int i = 0; i < 12; ++i) total += host[i];
  cudaFree(list);
  cudaFree(count);
  return total == 66 ? 0 : 1;
}
