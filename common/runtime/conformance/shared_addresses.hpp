// Addresses of shared memory as 32 bits, in this block and in other blocks of its cluster, and a
// wait for a phase of an mbarrier.
#pragma once

__device__ inline unsigned shared_address(const void* at) {
  return static_cast<unsigned>(__cvta_generic_to_shared(at));
}
__device__ inline unsigned in_block(const void* own, unsigned rank) {
  unsigned at;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
               : "=r"(at)
               : "r"(shared_address(own)), "r"(rank));
  return at;
}
__device__ inline void wait_for_phase(unsigned barrier, unsigned parity) {
  asm volatile(
      "{ .reg .pred done;\n"
      "again:\n"
      "  mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 done, [%0], %1;\n"
      "  @!done bra again; }" ::"r"(barrier),
      "r"(parity)
      : "memory");
}
