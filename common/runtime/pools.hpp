// Memory pools for cudaMallocAsync, and their used and reserved bytes.
//
// idea    A pool holds no memory of its own. Its allocations come from the device and return there
//         at once, so a use after cudaFreeAsync is caught. "Reserved" counts the bytes that a GPU
//         would keep for later allocations.
// tests   tests/pool_test.cpp
#pragma once

#include <map>
#include <memory>
#include <set>

#include "common/device/device.hpp"

namespace stepwise::runtime {

class memory_pool {
 public:
  explicit memory_pool(std::uint64_t max_bytes = 0) : max_bytes_(max_bytes) {}

  // memory_allocation if the bytes do not fit in the maximum size of the pool.
  status check_room(std::uint64_t bytes) const;
  void add(device_address address, std::uint64_t bytes);
  // False if the address is not from this pool.
  bool remove(device_address address);
  bool holds(device_address address) const { return allocations_.contains(address); }
  // Releases reserved bytes that are not used, down to `keep` bytes.
  void trim(std::uint64_t keep);

  std::uint64_t used() const { return used_; }
  std::uint64_t reserved() const { return reserved_; }
  bool empty() const { return allocations_.empty(); }

  // The high-water marks since the last reset.
  std::uint64_t used_high() const { return used_high_; }
  std::uint64_t reserved_high() const { return reserved_high_; }
  void reset_used_high() { used_high_ = used_; }
  void reset_reserved_high() { reserved_high_ = reserved_; }

  // Stored only for queries. Allocations are in order here, so every reuse is allowed.
  int reuse_follow_events = 1, reuse_opportunistic = 1, reuse_internal = 1;
  std::uint64_t release_threshold = 0;  // reserved bytes to keep at a synchronisation

 private:
  std::uint64_t max_bytes_;  // 0: no limit
  std::uint64_t used_ = 0, used_high_ = 0, reserved_ = 0, reserved_high_ = 0;
  std::map<device_address, std::uint64_t> allocations_;
};

class pool_set {
 public:
  memory_pool& default_pool() { return default_; }
  // The pool that cudaMallocAsync uses.
  memory_pool& current() { return *current_; }
  void set_current(memory_pool& pool) { current_ = &pool; }

  memory_pool* create(std::uint64_t max_bytes);
  // The pool with this handle, or null.
  memory_pool* find(const void* handle);
  // False for the default pool. Allocations outlive their pool.
  bool destroy(memory_pool& pool);

  // Called when the device is reset. Leaves only an empty default pool.
  void clear();
  bool holds(device_address address) const;
  // Called when an allocation, perhaps from a pool, was freed.
  void forget(device_address address);
  // Called at a synchronisation. Shrinks the pools to their thresholds.
  void settle();
  // Reserved bytes that are not in use, in all pools.
  std::uint64_t idle_bytes() const;

 private:
  memory_pool default_;
  memory_pool* current_ = &default_;
  std::map<const void*, std::unique_ptr<memory_pool>> created_;
};

}  // namespace stepwise::runtime
