// Computes the occupancy of one block after the other, along each of three axes.
#include "grader/measure/occupancy_study.hpp"

#include <algorithm>

namespace stepwise {
namespace {

constexpr std::uint64_t shared_points = 64;

int warps_of(const gpu& model, const block_needs& block) {
  const auto room = room_for(model, block);
  return room.ok() ? room->blocks() * room->warps : 0;
}

std::vector<occupancy_point> along(const gpu& model, const block_needs& block,
                                   std::uint64_t block_needs::*axis, std::uint64_t first,
                                   std::uint64_t last, std::uint64_t step) {
  std::vector<occupancy_point> points;
  for (std::uint64_t at = first; at <= last; at += step) {
    block_needs other = block;
    other.*axis = at;
    points.push_back({at, warps_of(model, other)});
  }
  return points;
}

// The nearest point below `now` with more warps than now. If several points are equal, the first
// one found.
std::optional<occupancy_gain> nearest_below(const std::vector<occupancy_point>& points,
                                            std::uint64_t now, int warps,
                                            decltype(occupancy_gain::what) what) {
  for (auto point = points.rbegin(); point != points.rend(); ++point)
    if (point->at < now && point->warps > warps)
      return occupancy_gain{what, point->at, point->warps};
  return {};
}

std::vector<occupancy_gain> gains_of(const occupancy_study& s) {
  using by = decltype(occupancy_gain::what);
  std::vector<occupancy_gain> gains;
  const gpu& model = s.model;
  const auto add = [&](const std::optional<occupancy_gain>& gain) {
    if (gain) gains.push_back(*gain);
  };
  add(nearest_below(s.by_registers, s.block.registers, s.warps(), by::registers));
  // Searches in allocation units, because the curve is coarser.
  if (s.block.shared_bytes > 0) {
    const auto unit = static_cast<std::uint64_t>(s.room.shared_unit);
    add(nearest_below(
        along(model, s.block, &block_needs::shared_bytes, 0, s.block.shared_bytes, unit),
        s.block.shared_bytes, s.warps(), by::shared));
  }
  const auto most = std::max_element(
      s.by_threads.begin(), s.by_threads.end(),
      [](const occupancy_point& a, const occupancy_point& b) { return a.warps < b.warps; });
  if (most != s.by_threads.end() && most->warps > s.warps())
    gains.push_back({by::threads, most->at, most->warps});
  return gains;
}

}  // namespace

int occupancy_study::most_warps() const {
  return model.max_threads_per_multiprocessor / model.warp_size;
}

result<occupancy_study> study_occupancy(const gpu& model, std::uint64_t threads,
                                        std::uint64_t registers, std::uint64_t shared_bytes) {
  occupancy_study s;
  s.model = model;
  s.block = {threads, registers, shared_bytes, model.shared_bytes_per_block_optin};
  const auto room = room_for(model, s.block);
  if (!room.ok()) return room.failure();
  s.room = *room;
  const auto warp = static_cast<std::uint64_t>(model.warp_size);
  s.by_threads = along(model, s.block, &block_needs::threads, warp,
                       static_cast<std::uint64_t>(model.max_threads_per_block), warp);
  const int most = most_registers_of_thread(model.compute_capability());
  s.by_registers =
      along(model, s.block, &block_needs::registers, 1, static_cast<std::uint64_t>(most), 1);
  const std::uint64_t bytes = model.shared_bytes_per_block_optin;
  s.by_shared = along(model, s.block, &block_needs::shared_bytes, 0, bytes, bytes / shared_points);
  s.gains = gains_of(s);
  return s;
}

}  // namespace stepwise
