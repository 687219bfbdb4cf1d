// Allocates the buffer with its guard zones, copies and poisons it, and finds changes.
#include "common/runner/call_buffer.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

namespace stepwise::runner {
namespace {

using guard_zone = std::array<std::byte, guard_bytes>;

// Every byte of a zone differs from its neighbours, so no fill can look like an intact zone.
constexpr guard_zone intact_guard() {
  guard_zone zone{};
  for (std::size_t i = 0; i < zone.size(); ++i) zone[i] = static_cast<std::byte>(37 * i + 11);
  return zone;
}

constexpr guard_zone intact = intact_guard();
constexpr std::size_t chunk_bytes = std::size_t{16} << 20;  // for copying a buffer back

}  // namespace

call_buffer::call_buffer(memory& where, std::uint64_t bytes)
    : where_(&where), bytes_(bytes), guard_(where.needs_guards() ? guard_bytes : 0) {
  static_assert(guard_bytes % 256 == 0, "the buffer behind a guard zone must stay aligned");
  if (bytes_ == 0) return;
  allocation_ = where_->allocate(bytes_ + 2 * guard_);
  address_ = allocation_ + guard_;
  if (guard_ == 0) return;
  where_->copy_in(allocation_, intact);
  where_->copy_in(allocation_ + guard_ + bytes_, intact);
}

call_buffer::~call_buffer() {
  if (allocation_ != nullptr) where_->release(allocation_, bytes_ + 2 * guard_);
}

call_buffer::call_buffer(call_buffer&& other) noexcept
    : where_(other.where_),
      bytes_(other.bytes_),
      guard_(other.guard_),
      allocation_(std::exchange(other.allocation_, nullptr)),
      address_(std::exchange(other.address_, nullptr)) {}

void call_buffer::upload(std::span<const std::byte> from) {
  if (bytes_ != 0) where_->copy_in(address_, from.first(bytes_));
}

void call_buffer::download(std::span<std::byte> to) const {
  if (bytes_ != 0) where_->copy_out(to.first(bytes_), address_);
}

void call_buffer::poison(std::uint8_t value) {
  if (bytes_ != 0) where_->fill(address_, value, bytes_);
}

std::uint64_t call_buffer::first_difference(std::span<const std::byte> content) const {
  std::vector<std::byte> chunk(std::min<std::uint64_t>(chunk_bytes, bytes_));
  for (std::uint64_t start = 0; start < bytes_; start += chunk.size()) {
    const std::size_t size = std::min<std::uint64_t>(chunk.size(), bytes_ - start);
    where_->copy_out({chunk.data(), size}, address_ + start);
    const auto expected = content.subspan(start, size);
    if (std::memcmp(chunk.data(), expected.data(), size) == 0) continue;
    const auto end = chunk.begin() + static_cast<std::ptrdiff_t>(size);
    return start + static_cast<std::uint64_t>(
                       std::mismatch(chunk.begin(), end, expected.begin()).first - chunk.begin());
  }
  return bytes_;
}

std::uint32_t call_buffer::broken_guards() const {
  if (allocation_ == nullptr || guard_ == 0) return 0;
  std::uint32_t broken = 0;
  guard_zone zone;
  where_->copy_out(zone, allocation_);
  if (zone != intact) broken |= 1;
  where_->copy_out(zone, allocation_ + guard_ + bytes_);
  if (zone != intact) broken |= 2;
  return broken;
}

}  // namespace stepwise::runner
