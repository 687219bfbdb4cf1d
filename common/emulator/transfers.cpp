// Adds up sectors, and recognises the rows of a pitched area.
#include "common/emulator/transfers.hpp"

#include <algorithm>

namespace stepwise::emulator {
namespace {

constexpr std::uint64_t bytes_of_transfer_sector = 32;

// Bytes of the sectors that an area touches.
std::uint64_t sectors_of(device_address at, std::uint64_t bytes) {
  const std::uint64_t first = at / bytes_of_transfer_sector,
                      end = (at + bytes + bytes_of_transfer_sector - 1) / bytes_of_transfer_sector;
  return (end - first) * bytes_of_transfer_sector;
}

}  // namespace

// Whether this row continues the operation of the row before it. Stores it as the last row.
bool transfer_counter::is_next_row(const row& next) {
  const row before = std::exchange(row_, next);
  if (before.bytes != next.bytes || before.copies != next.copies) return false;
  if (next.to <= before.to || (next.copies && next.from <= before.from)) return false;
  const std::uint64_t to_step = next.to - before.to, from_step = next.from - before.from;
  const bool has_gaps = to_step > next.bytes || from_step > next.bytes;
  const bool is_second = before.to_step == 0;
  if (!has_gaps || (!is_second && (to_step != before.to_step || from_step != before.from_step)))
    return false;
  row_.to_step = to_step;
  row_.from_step = from_step;
  return true;
}

double transfer_counter::us_of(double bytes, double bytes_per_s, bool starts) const {
  if (!timed_) return 0;
  return (starts ? rates_.start_us : 0) + 1e6 * bytes / bytes_per_s;
}

double transfer_counter::copied(device_address to, device_address from, std::uint64_t bytes) {
  if (!counted_ || bytes == 0) return 0;
  const bool starts = !is_next_row({true, to, from, bytes, 0, 0});
  const std::uint64_t moved = std::max(sectors_of(to, bytes), sectors_of(from, bytes));
  const double us = us_of(static_cast<double>(moved), rates_.copy_bytes_per_s, starts);
  total_ += {starts ? 1U : 0U, moved, 0, 0, us};
  return us;
}

double transfer_counter::filled(device_address to, std::uint64_t bytes) {
  if (!counted_ || bytes == 0) return 0;
  const bool starts = !is_next_row({false, to, 0, bytes, 0, 0});
  const std::uint64_t moved = sectors_of(to, bytes);
  const double us = us_of(static_cast<double>(moved), rates_.fill_bytes_per_s, starts);
  total_ += {0, 0, starts ? 1U : 0U, moved, us};
  return us;
}

}  // namespace stepwise::emulator
