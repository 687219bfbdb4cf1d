// A bulk copy of 256 bytes, while the barrier expects twice as many.
#include <cstdint>

__device__ bool is_full(unsigned barrier) {
  int done;
  asm volatile(
      "{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.s32 %0, 1, 0, p; }"
      : "=r"(done)
      : "r"(barrier)
      : "memory");
  return done != 0;
}

__global__ void load(const int* in, int* out) {
  __shared__ alignas(16) int tile[64];
  __shared__ alignas(8) std::uint64_t full;
  const unsigned barrier = static_cast<unsigned>(__cvta_generic_to_shared(&full));
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(tile));
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(barrier) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    // finding: arrivals
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 512;" ::"r"(barrier) : "memory");
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 256, "
        "[%2];" ::"r"(to),
        "l"(in), "r"(barrier)  // finding: copies
        : "memory");
  }
  __syncthreads();
  // finding: endless poll object=full says=lacks_256_of_512_announced_bytes
  while (!is_full(barrier)) {
  }
  out[threadIdx.x] = tile[threadIdx.x];
}

int main() {
  int *in, *out;
  cudaMalloc(&in, 64 * sizeof(int));
  cudaMalloc(&out, 64 * sizeof(int));
  cudaMemset(in, 0, 64 * sizeof(int));
  load<<<1, 64>>>(in, out);
  cudaDeviceSynchronize();
  cudaFree(in);
  cudaFree(out);
}
