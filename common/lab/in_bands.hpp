// Parallel work on a large array, on all of the machine's cores.
//
// idea    Comparing gigabytes with a reference takes seconds on one core, and delays measurements.
//         An array is divided into contiguous bands with one thread per band. A small array stays
//         in the calling thread, because starting a thread takes longer than the work.
// tested  common/lab/tests/lab_test.cpp
#pragma once

#include <algorithm>
#include <cstdint>
#include <system_error>
#include <thread>
#include <vector>

namespace stepwise {

inline constexpr std::int64_t least_band_bytes = std::int64_t{16} << 20;

// Calls part(begin, end) for bands that cover 0, 1, ... count - 1 once, and waits for all of them.
// Each of the `count` elements has bytes_each bytes. `part` runs in several threads at once and
// must not throw.
template <class Part>
void in_bands(std::int64_t count, std::int64_t bytes_each, const Part& part) {
  const std::int64_t cores = std::max(1u, std::thread::hardware_concurrency());
  const std::int64_t bands =
      std::max<std::int64_t>(1, std::min({cores, count, count * bytes_each / least_band_bytes}));
  const auto make = [&](std::int64_t band) {
    part(count * band / bands, count * (band + 1) / bands);
  };
  std::vector<std::jthread> others;  // joined at the end
  others.reserve(bands);
  for (std::int64_t band = 1; band < bands; ++band) {
    try {
      others.emplace_back([&make, band] { make(band); });
    } catch (const std::system_error&) {  // no more threads available
      make(band);
    }
  }
  make(0);
}

}  // namespace stepwise
