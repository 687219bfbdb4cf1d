// st.async and red.async: each block writes into its neighbour's memory, and the neighbour waits
// for the bytes at its mbarrier.
#include <cooperative_groups.h>

#include "cluster_launch.hpp"
#include "common/emulator/tests/programs/program.hpp"
#include "shared_addresses.hpp"

namespace cg = cooperative_groups;

constexpr int threads = 32;

// Bytes that a block receives: a 32-bit, a 64-bit and two vector stores, and a sum, by each thread.
constexpr unsigned received_bytes = threads * (4 + 8 + 8 + 16 + 4);

#define COMPLETES ".shared::cluster.mbarrier::complete_tx::bytes"

__global__ void exchange(unsigned* words, unsigned long long* wide, unsigned* pairs, float* quads,
                         unsigned* sums) {
  __shared__ alignas(8) unsigned long long barrier;
  __shared__ unsigned word[threads], sum[2];
  __shared__ unsigned long long long_word[threads];
  __shared__ alignas(8) unsigned pair[2 * threads];
  __shared__ alignas(16) float quad[4 * threads];
  const cg::cluster_group cluster = cg::this_cluster();
  const unsigned rank = cluster.block_rank(), next = (rank + 1) % cluster.num_blocks();
  const unsigned t = threadIdx.x;
  if (t < 2) sum[t] = t == 0 ? 100 * rank : 0;
  if (t == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&barrier)));
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile(
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(&barrier)),
        "r"(received_bytes)
        : "memory");
  }
  cluster.sync();
  const unsigned done = in_block(&barrier, next), x = 1000 * rank + t;
  asm volatile("st.async" COMPLETES ".u32 [%0], %1, [%2];" ::"r"(in_block(&word[t], next)), "r"(x),
               "r"(done)
               : "memory");
  asm volatile("st.async" COMPLETES ".b64 [%0], %1, [%2];" ::"r"(in_block(&long_word[t], next)),
               "l"(x * 0x100000001ull), "r"(done)
               : "memory");
  asm volatile("st.async" COMPLETES
               ".v2.s32 [%0], {%1, %2}, [%3];" ::"r"(in_block(&pair[2 * t], next)),
               "r"(x), "r"(x + 1), "r"(done)
               : "memory");
  asm volatile("st.async" COMPLETES
               ".v4.f32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(in_block(&quad[4 * t], next)),
               "f"(1.0f * x), "f"(2.0f * x), "f"(3.0f * x), "f"(4.0f * x), "r"(done)
               : "memory");
  if (t % 2 == 0)
    asm volatile("red.async.relaxed.cluster" COMPLETES
                 ".add.u32 [%0], %1, [%2];" ::"r"(in_block(&sum[0], next)),
                 "r"(t), "r"(done)
                 : "memory");
  else
    asm volatile("red.async.relaxed.cluster" COMPLETES
                 ".max.u32 [%0], %1, [%2];" ::"r"(in_block(&sum[1], next)),
                 "r"(t + rank), "r"(done)
                 : "memory");
  wait_for_phase(shared_address(&barrier), 0);
  const unsigned i = blockIdx.x * threads + t;
  words[i] = word[t];
  wide[i] = long_word[t];
  for (int e = 0; e < 2; ++e) pairs[2 * i + e] = pair[2 * t + e];
  for (int e = 0; e < 4; ++e) quads[4 * i + e] = quad[4 * t + e];
  if (t < 2) sums[2 * blockIdx.x + t] = sum[t];
  cluster.sync();
}

int main() {
  int wrong = 0;
  for (const unsigned cluster : {2u, 4u}) {
    const unsigned blocks = 2 * cluster, n = blocks * threads;
    device_array<unsigned> words(n), pairs(2 * n), sums(2 * blocks);
    device_array<unsigned long long> wide(n);
    device_array<float> quads(4 * n);
    check(launch_in_clusters(exchange, {blocks, cluster, threads}, words.get(), wide.get(),
                             pairs.get(), quads.get(), sums.get()));
    finish();
    std::vector<unsigned> a, c, e;
    std::vector<unsigned long long> b;
    std::vector<float> d;
    for (unsigned block = 0; block < blocks; ++block) {
      const unsigned rank = block % cluster, from = (rank + cluster - 1) % cluster;
      for (unsigned t = 0; t < threads; ++t) {
        const unsigned x = 1000 * from + t;
        a.push_back(x);
        b.push_back(x * 0x100000001ull);
        c.insert(c.end(), {x, x + 1});
        d.insert(d.end(), {1.0f * x, 2.0f * x, 3.0f * x, 4.0f * x});
      }
      e.insert(e.end(), {100 * rank + 240, 31 + from});
    }
    wrong |= compare("st.async.u32", words.values(), a);
    wrong |= compare("st.async.b64", wide.values(), b);
    wrong |= compare("st.async.v2", pairs.values(), c);
    wrong |= compare("st.async.v4", quads.values(), d);
    wrong |= compare("red.async", sums.values(), e);
  }
  return wrong;
}
