// A runtime call by one lane: its arguments, and the memory that its pointers lead to.
#pragma once

#include <cstring>
#include <string>

#include "common/emulator/run/grid_launches.hpp"
#include "common/emulator/run/lane_memory.hpp"

namespace stepwise::emulator {

struct grid_launches::lane_call {
  const library_call& site;
  scheduler& owner;
  context& x;
  const op* i;
  int lane;
  status failure;  // stops the grid

  std::uint64_t value(std::size_t n, unsigned bytes = 8) const {
    return argument(x, owner, site, n, lane, bytes);
  }
  // The k-th 64-bit word of a structure.
  std::uint64_t word(std::size_t n, std::size_t k) const {
    std::uint64_t v;
    std::memcpy(&v, owner.frame_bytes(x, lane) + site.arguments[n] + 8 * k, sizeof v);
    return v;
  }
  extent dimensions(std::size_t n) const {
    std::uint32_t v[3];
    std::memcpy(v, owner.frame_bytes(x, lane) + site.arguments[n], sizeof v);
    return {v[0], v[1], v[2]};
  }
  unsigned result_bytes() const {
    switch (site.of_runtime) {
      case runtime_function::get_error_string:
      case runtime_function::get_error_name:
      case runtime_function::get_buffer:
      case runtime_function::get_buffer_for:
        return 8;
      default:
        return 4;
    }
  }
  // False if the address does not lead to that many bytes.
  bool read(std::uint64_t from, void* to, std::uint64_t bytes) const {
    const auto there = bytes_at(x, from, lane, bytes);
    if (from == 0 || there.size() < bytes) return false;
    std::memcpy(to, there.data(), bytes);
    return true;
  }
  bool write(std::uint64_t to, const void* from, std::uint64_t bytes) const {
    const auto there = bytes_at(x, to, lane, bytes);
    const bool is_parameter = (to - parameter_window) < window_bytes;
    if (to == 0 || is_parameter || there.size() < bytes) return false;
    std::memcpy(const_cast<std::byte*>(there.data()), from, bytes);
    return true;
  }
  warp_event event() const { return {owner.warp_index(), x.active, i}; }
  std::string where() const { return owner.line_of(i); }
};

}  // namespace stepwise::emulator
