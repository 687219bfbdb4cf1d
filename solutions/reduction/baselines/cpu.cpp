// reduction baseline: the CPU. Every thread adds up its share in vector registers; then the
// threads' sums are added up. A core waits for memory most of that time.
#include <atomic>

#include "common/cpu/clones.hpp"
#include "common/cpu/thread_team.hpp"
#include "labs/reduction/reduction.hpp"

namespace {

constexpr std::int64_t grain = 4096;  // ints: fewer are not worth another thread

// Adds modulo 2^32, because unsigned additions wrap around.
STEPWISE_CLONES unsigned sum_of(const int* in, std::int64_t count) {
  unsigned sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += static_cast<unsigned>(in[i]);
  return sum;
}

}  // namespace

void reduce(const int* in, int* out, int*, int n) {
  std::atomic<unsigned> sum{0};
  stepwise::host::in_bands(n, grain, [&](std::int64_t begin, std::int64_t end) {
    sum.fetch_add(sum_of(in + begin, end - begin), std::memory_order_relaxed);
  });
  *out = static_cast<int>(sum.load());
}
