// What a program said about managed memory: where ranges of it should lie, and who uses them.
//
// idea    Here managed memory lies where host and kernels both reach it, and never moves. Advice is
//         kept only to be answered again, so it is a map from an address to what holds from there
//         to the next entry.
// tests   tests/managed_test.cpp
#pragma once

#include <map>
#include <optional>

#include "common/device/device.hpp"

namespace stepwise::runtime {

// A place for memory. The numbers are those of cudaMemLocationType.
struct memory_place {
  int type = 0;  // cudaMemLocationTypeInvalid: not set
  int id = -2;   // cudaInvalidDeviceId; of the host as such, cudaCpuDeviceId

  bool operator==(const memory_place&) const = default;
};

struct memory_advice {
  bool read_mostly = false;
  bool used_by_host = false, used_by_device = false;
  memory_place preferred, last_prefetch;

  bool operator==(const memory_advice&) const = default;
};

class managed_advice {
 public:
  // Changes what holds for [address, address + bytes).
  template <class Change>
  void update(device_address address, std::uint64_t bytes, Change&& change) {
    split(address);
    split(address + bytes);
    const auto end = pieces_.lower_bound(address + bytes);
    for (auto piece = pieces_.lower_bound(address); piece != end; ++piece) change(piece->second);
  }

  // What `part` of the advice is in the whole range; none if it differs within it.
  template <class Part>
  auto common(device_address address, std::uint64_t bytes, Part&& part) const
      -> std::optional<decltype(part(memory_advice{}))> {
    const auto first = part(at(address));
    const auto end = pieces_.lower_bound(address + bytes);
    for (auto piece = pieces_.lower_bound(address); piece != end; ++piece) {
      if (!(part(piece->second) == first)) return std::nullopt;
    }
    return first;
  }

  // The memory is freed.
  void forget(device_address address, std::uint64_t bytes);

 private:
  // Lets an entry begin at an address, without changing what holds.
  void split(device_address address) { pieces_.try_emplace(address, at(address)); }
  memory_advice at(device_address address) const;

  std::map<device_address, memory_advice> pieces_;
};

}  // namespace stepwise::runtime
