// launch baseline: the CPU. Every thread adds its share, in vector registers.
//
// watch   A store to a line that is in no cache first fetches the line, so 16 bytes move per
//         element instead of 12. Non-temporal stores avoid that. But data that fits in a cache is
//         better left there.
// source  Intel 64 and IA-32 Architectures Optimization Reference Manual, non-temporal stores.
#include <immintrin.h>

#include "common/cpu/clones.hpp"
#include "common/cpu/thread_team.hpp"
#include "labs/launch/launch.hpp"

namespace {

constexpr std::int64_t grain = 4096;         // elements: fewer are not worth another thread
constexpr std::int64_t cached = 32ll << 20;  // bytes of all arrays; larger ones bypass the caches

STEPWISE_CLONES void add_here(const float* x, const float* y, float* z, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) z[i] = x[i] + y[i];
}

// z is aligned to 16 bytes.
STEPWISE_CLONES void add_past_caches(const float* x, const float* y, float* z, std::int64_t count) {
  const std::int64_t whole = count / 4 * 4;
  for (std::int64_t i = 0; i < whole; i += 4)
    _mm_stream_ps(z + i, _mm_add_ps(_mm_loadu_ps(x + i), _mm_loadu_ps(y + i)));
  for (std::int64_t i = whole; i < count; ++i) z[i] = x[i] + y[i];
  _mm_sfence();
}

}  // namespace

void add(const float* x, const float* y, float* z, int n) {
  const std::int64_t bytes = 3 * std::int64_t{sizeof(float)} * n;
  const auto part = bytes > cached ? add_past_caches : add_here;
  stepwise::host::in_bands(n, grain, [&](std::int64_t begin, std::int64_t end) {
    part(x + begin, y + begin, z + begin, end - begin);
  });
}
