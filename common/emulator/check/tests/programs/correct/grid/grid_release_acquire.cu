// cuda::atomic with release and acquire passes data between two blocks in both directions.
#include <cuda/atomic>

using word = cuda::atomic<int, cuda::thread_scope_device>;

__global__ void ping_pong(int* data, word* turn) {
  const int me = blockIdx.x;
  for (int k = 0; k < 5; ++k) {
    while (turn->load(cuda::memory_order_acquire) != 2 * k + me) {
    }
    *data = 3 * *data + me;
    turn->store(2 * k + me + 1, cuda::memory_order_release);
  }
}

int main() {
  int *data, host = 0;
  word* turn;
  cudaMalloc(&data, sizeof(int));
  cudaMalloc(&turn, sizeof(word));
  cudaMemset(data, 0, sizeof(int));
  cudaMemset(turn, 0, sizeof(word));
  ping_pong<<<2, 1>>>(data, turn);
  cudaMemcpy(&host, data, sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(data);
  cudaFree(turn);
  return host == 7381 ? 0 : 1;
}
