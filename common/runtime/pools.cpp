// Keeps each pool's used and reserved bytes, and finds the pool of an address or a handle.
#include "common/runtime/pools.hpp"

#include <algorithm>

namespace stepwise::runtime {
namespace {

// Pools reserve memory in steps, so most allocations need no new reservation.
constexpr std::uint64_t step = std::uint64_t{32} << 20;

std::uint64_t in_steps(std::uint64_t bytes) { return (bytes + step - 1) / step * step; }

}  // namespace

status memory_pool::check_room(std::uint64_t bytes) const {
  if (max_bytes_ == 0 || (bytes <= max_bytes_ && used_ <= max_bytes_ - bytes)) return {};
  return {error::memory_allocation, "no room for " + std::to_string(bytes) +
                                        " bytes in a pool of " + std::to_string(max_bytes_)};
}

void memory_pool::add(device_address address, std::uint64_t bytes) {
  allocations_[address] = bytes;
  used_ += bytes;
  used_high_ = std::max(used_high_, used_);
  reserved_ = std::max(reserved_, in_steps(used_));
  reserved_high_ = std::max(reserved_high_, reserved_);
}

bool memory_pool::remove(device_address address) {
  const auto found = allocations_.find(address);
  if (found == allocations_.end()) return false;
  used_ -= found->second;
  allocations_.erase(found);
  return true;
}

void memory_pool::trim(std::uint64_t keep) {
  reserved_ = std::max(in_steps(used_), in_steps(std::min(reserved_, keep)));
}

memory_pool* pool_set::create(std::uint64_t max_bytes) {
  auto made = std::make_unique<memory_pool>(max_bytes);
  memory_pool* const pool = made.get();
  created_[pool] = std::move(made);
  return pool;
}

memory_pool* pool_set::find(const void* handle) {
  if (handle == &default_) return &default_;
  const auto found = created_.find(handle);
  return found == created_.end() ? nullptr : found->second.get();
}

bool pool_set::destroy(memory_pool& pool) {
  if (&pool == &default_) return false;
  if (current_ == &pool) current_ = &default_;
  created_.erase(&pool);
  return true;
}

void pool_set::clear() {
  default_ = memory_pool();
  current_ = &default_;
  created_.clear();
}

bool pool_set::holds(device_address address) const {
  return default_.holds(address) ||
         std::ranges::any_of(created_, [&](const auto& one) { return one.second->holds(address); });
}

void pool_set::forget(device_address address) {
  if (default_.remove(address)) return;
  for (auto& [handle, pool] : created_) {
    if (pool->remove(address)) return;
  }
}

void pool_set::settle() {
  default_.trim(default_.release_threshold);
  for (auto& [handle, pool] : created_) pool->trim(pool->release_threshold);
}

std::uint64_t pool_set::idle_bytes() const {
  std::uint64_t idle = default_.reserved() - default_.used();
  for (const auto& [handle, pool] : created_) idle += pool->reserved() - pool->used();
  return idle;
}

}  // namespace stepwise::runtime
