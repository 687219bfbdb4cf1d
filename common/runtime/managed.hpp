// A program's advice about managed memory: the preferred place of each range, and its users.
//
// idea    Here, the host and kernels can both reach managed memory, which never moves. Advice is
//         kept only for queries. For an address, a map holds the advice from there to the next
//         entry.
// tests   tests/managed_test.cpp
#pragma once

#include <map>
#include <optional>

#include "common/device/device.hpp"

namespace stepwise::runtime {

// A place for memory. The numbers are those of cudaMemLocationType.
struct memory_place {
  int type = 0;  // cudaMemLocationTypeInvalid: not set
  int id = -2;   // cudaInvalidDeviceId, or cudaCpuDeviceId for the host

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
  // Changes the advice for [address, address + bytes).
  template <class Change>
  void update(device_address address, std::uint64_t bytes, Change&& change) {
    split(address);
    split(address + bytes);
    const auto end = pieces_.lower_bound(address + bytes);
    for (auto piece = pieces_.lower_bound(address); piece != end; ++piece) change(piece->second);
  }

  // The value of `part` of the advice in the whole range; none if the value differs within the
  // range.
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

  // Called when the memory is freed.
  void forget(device_address address, std::uint64_t bytes);

 private:
  // Makes an entry begin at an address, without changing any advice.
  void split(device_address address) { pieces_.try_emplace(address, at(address)); }
  memory_advice at(device_address address) const;

  std::map<device_address, memory_advice> pieces_;
};

}  // namespace stepwise::runtime
