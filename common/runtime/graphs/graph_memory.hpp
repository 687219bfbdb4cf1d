// Memory that graphs allocate. An address stays valid as long as a graph or an executable graph may
// use it. The program may use the memory from its allocation node's run to its release node's run.
//
// idea    Device memory is allocated when the node is created, because the address is fixed at that
//         time. "Reserved" counts the bytes that a GPU would have mapped. Streams reuse these bytes
//         for later launches, and cudaDeviceGraphMemTrim returns the idle bytes.
// tests   ../tests/graph_memory_test.cpp
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "common/device/device.hpp"

namespace stepwise::runtime {

class graph_memory {
 public:
  // Allocates memory for a graph. memory_allocation.
  result<device_address> allocate(device& on, std::uint64_t bytes, const void* graph);
  bool knows(device_address address) const { return blocks_.count(address) != 0; }
  std::uint64_t bytes_of(device_address address) const { return blocks_.at(address).bytes; }
  const void* owner_of(device_address address) const { return blocks_.at(address).owner; }

  // forget_owner() follows the end of a graph. hold() and let_go() follow the creation and the end
  // of an executable graph that uses these addresses.
  void forget_owner(const void* graph);
  void hold(const std::vector<device_address>& addresses);
  void let_go(const std::vector<device_address>& addresses);
  // Frees the blocks that nothing can use any more.
  void collect(device& on);

  // Frees all blocks that are not live, even if a graph could use them.
  void give_back_all(device& on);

  // Memory is live between an allocation node's run and its release. `within`: both are in one
  // launch, whose reserve() counts the bytes.
  bool is_live(device_address address) const;
  void set_live(device_address address, bool live, bool within = false);

  // Accounts for a launch that needs `bytes` of memory that the graph releases itself.
  void reserve(std::uint64_t stream, std::uint64_t bytes);
  void trim();
  // Includes idle bytes until trim(). According to NVIDIA's sample graphMemoryFootprint, a release
  // does not lower the attribute for used bytes.
  std::uint64_t reserved() const;
  std::uint64_t used_high() const { return used_high_; }
  std::uint64_t reserved_high() const { return reserved_high_; }
  void reset_used_high() { used_high_ = reserved(); }
  void reset_reserved_high() { reserved_high_ = reserved(); }

  // The size that a GPU maps for a block.
  static std::uint64_t rounded(std::uint64_t bytes);

 private:
  struct block {
    std::uint64_t bytes = 0;
    const void* owner = nullptr;  // the graph, while it exists
    int holders = 0;              // executable graphs
    bool live = false;
  };
  void note_marks();

  std::map<device_address, block> blocks_;
  std::map<std::uint64_t, std::uint64_t> by_stream_;
  std::uint64_t idle_ = 0, used_ = 0, used_high_ = 0, reserved_high_ = 0;
};

}  // namespace stepwise::runtime
