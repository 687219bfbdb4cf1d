// scan baseline: the CPU. Every thread adds up its share; then, knowing what lies before it, every
// thread scans it. This is reduce-then-scan, and a share comes from memory twice.
#include <algorithm>
#include <vector>

#include "common/cpu/clones.hpp"
#include "common/cpu/thread_team.hpp"
#include "labs/scan/scan.hpp"

namespace {

constexpr std::int64_t grain = 4096;  // words: fewer are not worth another thread

// Adds modulo 2^32, because unsigned additions wrap around.
STEPWISE_CLONES unsigned sum_of(const unsigned* in, std::int64_t count) {
  unsigned sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += in[i];
  return sum;
}

void scan_share(const unsigned* in, unsigned* out, std::int64_t count, unsigned sum) {
  for (std::int64_t i = 0; i < count; ++i) {
    sum += in[i];
    out[i] = sum;
  }
}

}  // namespace

void scan(const unsigned* in, unsigned* out, unsigned*, int n) {
  // The caller's thread adds up the shares before each share. in_bands() cuts the same shares
  // again.
  std::vector<unsigned> sums((n - 1) / grain + 2);  // by the first grain of a share
  stepwise::host::in_bands(n, grain, [&](std::int64_t begin, std::int64_t end) {
    sums[end == n ? sums.size() - 1 : end / grain] = sum_of(in + begin, end - begin);
  });
  for (std::size_t i = 1; i < sums.size(); ++i) sums[i] += sums[i - 1];
  stepwise::host::in_bands(n, grain, [&](std::int64_t begin, std::int64_t end) {
    scan_share(in + begin, out + begin, end - begin, sums[begin / grain]);
  });
}
