// Lists that threads allocate, hand to another block, and free.
#include <cuda/atomic>

struct node {
  int value;
  node* next;
};

__device__ node* head;

__global__ void push() {
  node* const mine = static_cast<node*>(malloc(sizeof(node)));
  mine->value = blockIdx.x * blockDim.x + threadIdx.x;
  cuda::atomic_ref<node*, cuda::thread_scope_device> top(head);
  mine->next = top.load(cuda::memory_order_relaxed);
  while (!top.compare_exchange_weak(mine->next, mine, cuda::memory_order_release,
                                    cuda::memory_order_relaxed)) {
  }
}

__global__ void sum(int* out) {
  int total = 0;
  while (head != nullptr) {
    node* const first = head;
    total += first->value;
    head = first->next;
    free(first);
  }
  *out = total;
}

int main() {
  int *out, total = 0;
  cudaMalloc(&out, sizeof(int));
  push<<<2, 32>>>();
  sum<<<1, 1>>>(out);
  cudaMemcpy(&total, out, sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(out);
  return total == 2016 ? 0 : 1;
}
