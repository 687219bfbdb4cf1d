// Figures measured on the labs' steps, and the reservations that they request.
#include "grader/grade/memory.hpp"

#include <algorithm>

namespace stepwise {
namespace {

constexpr std::uint64_t megabyte = 1'000'000;
constexpr std::uint64_t program_bytes = 25 * megabyte;

}  // namespace

std::uint64_t bytes_to_compile(std::string_view source) {
  for (const char* large : {"<cub/", "<thrust/", "<cuda/", "\"cub/", "\"thrust/"})
    if (source.find(large) != std::string_view::npos) return 500 * megabyte;
  return 300 * megabyte;
}

// The labs' steps take at most 251 MB in the server, 10 MB in the program, and 177 MB here. With
// checks on, the server also records the arrays: 242 MB instead of 150 MB for a reduction of 64
// MiB.
running_need bytes_to_run(const lab& l, const problem& p) {
  running_need need{325 * megabyte, 20 * megabyte};
  if (l.modelled.empty()) return need;
  const double arrays = p.work(l.modelled.back()).bytes;
  need.all = std::max(need.all, 150 * megabyte + static_cast<std::uint64_t>(4 * arrays));
  need.here += static_cast<std::uint64_t>(arrays);
  return need;
}

memory_limits limits_within(std::uint64_t reserved, const running_need& need) {
  if (reserved == 0) return {};
  const std::uint64_t more = (reserved - std::min(reserved, need.all)) / 2;
  const std::uint64_t program = program_bytes + more;
  return {std::max(reserved, need.all) - need.here - program, program};
}

batch_memory::batch_memory(std::function<void()> waiting)
    : waiting_(std::move(waiting)), all_(shared_memory_budget::of_environment()) {}

std::uint64_t batch_memory::take(std::uint64_t usual) {
  reserved_.reset();
  if (!all_) return 0;
  reserved_.emplace(all_->take(usual, waiting_));
  held_ = std::max(usual, reserved_->bytes());
  return held_;
}

std::uint64_t batch_memory::take_all(std::uint64_t most) {
  const std::uint64_t wanted = all_ ? std::min(all_->bytes(), most) : 0;
  return wanted > held_ ? take(wanted) : 0;
}

}  // namespace stepwise
