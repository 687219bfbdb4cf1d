// Keeps the pieces of each warp. A run is reported when it ends, after its accesses.
#include "common/emulator/time/launch_trace.hpp"

#include <algorithm>

namespace stepwise::emulator {

void recorder::begin(unsigned warps, unsigned resident) {
  trace_ = {};
  warps_ = warps;
  most_of_warp_ = most_records / (std::size_t{warps} * resident);
  now_ = nullptr;
  forget_run();
  numbers_.clear();
  last_key_ = ~std::uint64_t{0};
}

void recorder::begin_block(std::uint64_t index) {
  trace_.blocks.push_back({index, std::vector<warp_trace>(warps_), 0, 0, 0, 0});
  now_ = &trace_.blocks.back();
}

void recorder::switch_to(std::uint64_t index) {
  if (now_ != nullptr && now_->index == index) return;
  now_ = nullptr;
  for (block_trace& b : trace_.blocks)
    if (b.index == index) now_ = &b;
}

launch_trace recorder::take(std::span<const std::uint64_t> blocks) {
  launch_trace taken;
  taken.runs = trace_.runs;
  now_ = nullptr;
  std::erase_if(trace_.blocks, [&](block_trace& b) {
    const bool is_wanted = std::ranges::find(blocks, b.index) != blocks.end();
    if (is_wanted) taken.blocks.push_back(std::move(b));
    return is_wanted;
  });
  return taken;
}

std::uint32_t recorder::run_of(std::uint32_t first, std::uint32_t end) {
  const std::uint64_t key = std::uint64_t{first} << 32 | end;
  if (key == last_key_) return last_run_;
  const auto [at, is_new] =
      numbers_.try_emplace(key, static_cast<std::uint32_t>(trace_.runs.size()));
  if (is_new) trace_.runs.push_back({first, end});
  last_key_ = key;
  return last_run_ = at->second;
}

void recorder::access(const recorded_access& a, std::span<const recorded_line> lines) {
  if (now_ == nullptr) return;
  now_->sectors += a.sectors;
  if (a.sectors == 0) now_->shared_wavefronts += a.wavefronts;
  pending_.push_back(a);
  pending_.back().first_line = static_cast<std::uint32_t>(pending_lines_.size());
  pending_.back().known_lines = static_cast<std::uint8_t>(lines.size());
  pending_lines_.insert(pending_lines_.end(), lines.begin(), lines.end());
}

void recorder::signal(std::uint32_t ordinal, const recorded_signal& s) {
  if (now_ == nullptr) return;
  recorded_access a;
  a.ordinal = ordinal;
  a.is_signal = true;
  a.first_line = static_cast<std::uint32_t>(pending_signals_.size());
  pending_.push_back(a);
  pending_signals_.push_back(s);
}

void recorder::forget_run() {
  pending_.clear();
  pending_lines_.clear();
  pending_signals_.clear();
}

void recorder::executed(std::uint32_t warp, std::uint32_t first, std::uint32_t end) {
  if (now_ == nullptr) return;
  if (first != end) {
    now_->instructions += end - first;
    warp_trace& w = now_->warps[warp];
    if (w.records() < most_of_warp_) {
      now_->recorded += end - first;
      w.pieces.push_back({run_of(first, end), static_cast<std::uint32_t>(pending_.size())});
      for (recorded_access& a : pending_)
        a.first_line += static_cast<std::uint32_t>(a.is_signal ? w.signals.size() : w.lines.size());
      w.accesses.insert(w.accesses.end(), pending_.begin(), pending_.end());
      w.lines.insert(w.lines.end(), pending_lines_.begin(), pending_lines_.end());
      w.signals.insert(w.signals.end(), pending_signals_.begin(), pending_signals_.end());
    }
  }
  forget_run();
}

}  // namespace stepwise::emulator
