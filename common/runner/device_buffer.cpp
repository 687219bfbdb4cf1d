#include "common/runner/device_buffer.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>
#include <vector>

#include "common/lab/check.hpp"

namespace stepwise::runner {
namespace {

using guard_zone = std::array<std::byte, guard_bytes>;

// Every byte of a zone differs from its neighbours, so that no fill looks like it.
constexpr guard_zone intact_guard() {
  guard_zone zone{};
  for (std::size_t i = 0; i < zone.size(); ++i) zone[i] = static_cast<std::byte>(37 * i + 11);
  return zone;
}

constexpr guard_zone intact = intact_guard();
constexpr std::size_t chunk_bytes = std::size_t{16} << 20;  // of a buffer on its way home

}  // namespace

device_buffer::device_buffer(std::uint64_t bytes, bool guarded)
    : bytes_(bytes), guard_(guarded ? guard_bytes : 0) {
  static_assert(guard_bytes % 256 == 0, "the buffer behind a guard zone must stay aligned");
  if (bytes_ == 0) return;
  void* allocation = nullptr;
  check(cudaMalloc(&allocation, bytes_ + 2 * guard_));
  allocation_ = static_cast<std::byte*>(allocation);
  address_ = allocation_ + guard_;
  if (guard_ == 0) return;
  check(cudaMemcpy(allocation_, intact.data(), guard_, cudaMemcpyHostToDevice));
  check(cudaMemcpy(allocation_ + guard_ + bytes_, intact.data(), guard_, cudaMemcpyHostToDevice));
}

device_buffer::~device_buffer() {
  if (allocation_ != nullptr) cudaFree(allocation_);  // after a fault it cannot succeed
}

device_buffer::device_buffer(device_buffer&& other) noexcept
    : bytes_(other.bytes_),
      guard_(other.guard_),
      allocation_(std::exchange(other.allocation_, nullptr)),
      address_(std::exchange(other.address_, nullptr)) {}

void device_buffer::upload(std::span<const std::byte> from) {
  if (bytes_ != 0) check(cudaMemcpy(address_, from.data(), bytes_, cudaMemcpyHostToDevice));
}

void device_buffer::download(std::span<std::byte> to) const {
  if (bytes_ != 0) check(cudaMemcpy(to.data(), address_, bytes_, cudaMemcpyDeviceToHost));
}

void device_buffer::poison(std::uint8_t value) {
  if (bytes_ != 0) check(cudaMemset(address_, value, bytes_));
}

std::uint64_t device_buffer::first_difference(std::span<const std::byte> content) const {
  std::vector<std::byte> chunk(std::min<std::uint64_t>(chunk_bytes, bytes_));
  for (std::uint64_t start = 0; start < bytes_; start += chunk.size()) {
    const std::size_t size = std::min<std::uint64_t>(chunk.size(), bytes_ - start);
    check(cudaMemcpy(chunk.data(), static_cast<std::byte*>(address_) + start, size,
                     cudaMemcpyDeviceToHost));
    const auto expected = content.subspan(start, size);
    if (std::memcmp(chunk.data(), expected.data(), size) == 0) continue;
    const auto end = chunk.begin() + static_cast<std::ptrdiff_t>(size);
    return start + static_cast<std::uint64_t>(
                       std::mismatch(chunk.begin(), end, expected.begin()).first - chunk.begin());
  }
  return bytes_;
}

std::uint32_t device_buffer::broken_guards() const {
  if (allocation_ == nullptr || guard_ == 0) return 0;
  std::uint32_t broken = 0;
  guard_zone zone;
  check(cudaMemcpy(zone.data(), allocation_, guard_, cudaMemcpyDeviceToHost));
  if (zone != intact) broken |= 1;
  check(cudaMemcpy(zone.data(), allocation_ + guard_ + bytes_, guard_, cudaMemcpyDeviceToHost));
  if (zone != intact) broken |= 2;
  return broken;
}

}  // namespace stepwise::runner
