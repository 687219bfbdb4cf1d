// first baseline: the CPU. Every thread reverses its share of the rows.
//
// watch   The GPU steps are timed with their copies to the device and back. Here the picture is
//         already in place.
// source  The C++ standard library: std::reverse_copy, which compilers vectorise.
#include <algorithm>

#include "common/cpu/clones.hpp"
#include "common/cpu/thread_team.hpp"
#include "labs/first/first.hpp"

namespace {

constexpr std::int64_t grain = 65536;  // pixels: fewer are not worth another thread

STEPWISE_CLONES void reverse_rows(const unsigned char* in, unsigned char* out, std::int64_t width,
                                  std::int64_t rows) {
  for (std::int64_t y = 0; y < rows; ++y)
    std::reverse_copy(in + y * width, in + (y + 1) * width, out + y * width);
}

}  // namespace

void mirror(const unsigned char* in, unsigned char* out, int width, int height) {
  const std::int64_t rows_of_a_part = std::max<std::int64_t>(1, grain / width);
  stepwise::host::in_bands(height, rows_of_a_part, [&](std::int64_t begin, std::int64_t end) {
    reverse_rows(in + begin * width, out + begin * width, width, end - begin);
  });
}
