// Memory that graphs allocate: each address lives as long as a graph or an executable graph may
// use it, and is the program's to use between the runs of its two nodes.
//
// idea    The device's memory stands behind an address from the making of the node on, since the
//         address is fixed then. "Reserved" is the account of what a GPU would have mapped: streams
//         use it again for later launches, and cudaDeviceGraphMemTrim gives back what is idle.
// tests   ../tests/graph_memory_test.cpp
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "common/device/device.hpp"

namespace stepwise::runtime {

class graph_memory {
 public:
  // A new address for a graph. memory_allocation.
  result<device_address> allocate(device& on, std::uint64_t bytes, const void* graph);
  bool knows(device_address address) const { return blocks_.count(address) != 0; }
  std::uint64_t bytes_of(device_address address) const { return blocks_.at(address).bytes; }
  const void* owner_of(device_address address) const { return blocks_.at(address).owner; }

  // The graph is gone; an executable graph with these addresses is made, or gone.
  void forget_owner(const void* graph);
  void hold(const std::vector<device_address>& addresses);
  void let_go(const std::vector<device_address>& addresses);
  // Gives the device back what nothing can use any more.
  void collect(device& on);

  // The same of all but live memory, whoever could use it.
  void give_back_all(device& on);

  // Between an allocation node's run and a release. `within`: in one launch, whose reserve() counts
  // the bytes.
  bool is_live(device_address address) const;
  void set_live(device_address address, bool live, bool within = false);

  // A graph was launched in a stream, and needs `bytes` that it releases itself.
  void reserve(std::uint64_t stream, std::uint64_t bytes);
  void trim();
  // Also what is idle, until trim(): NVIDIA's sample graphMemoryFootprint says of the attribute for
  // used bytes that releasing does not lower it.
  std::uint64_t reserved() const;
  std::uint64_t used_high() const { return used_high_; }
  std::uint64_t reserved_high() const { return reserved_high_; }
  void reset_used_high() { used_high_ = reserved(); }
  void reset_reserved_high() { reserved_high_ = reserved(); }

  // As blocks are mapped on a GPU.
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
