// The relative positions of the addresses of a warp's lanes.
//
// idea    Whenever an instruction in a loop executes, the differences between its lanes' addresses
//         are usually the same, only at other places. So each access of a watched program keeps the
//         last differences and the properties derived from them. An access is first compared with
//         these, and analysed only if it differs.
#pragma once

#include <cstdint>

namespace stepwise::emulator {

// Lanes at consecutive places: first_lanes at the first of them, the next higher lanes at
// the next, and so on.
struct lane_run {
  std::uint64_t offset;       // the first place, from the shape's first lane
  std::uint32_t lanes;        // all lanes of the run
  std::uint32_t first_lanes;  // several where lanes share places
  std::uint32_t count;        // places
};

struct access_shape {
  static constexpr unsigned most_runs = 8;

  std::uint64_t serial = 0;  // differs for each shape; 0: none yet
  std::uint32_t active = 0;  // lanes
  std::uint32_t lanes = 0;   // how many
  std::uint32_t first = 0;   // the lowest lane
  // The lowest address minus that of the first lane. A negative difference -n is 2^64 - n.
  std::uint64_t low = 0;
  std::uint64_t span = 0;  // bytes from there to the end of the highest access
  bool aligned = false;    // if one access is aligned, all are
  unsigned runs = 0;       // 0: more than most_runs, the lanes are scattered
  lane_run run[most_runs];
  // For scattered lanes: the runs in which each higher lane accesses the preceding place. Their
  // first_lanes is the highest lane, and the next lower lane accesses the next place. 0: there are
  // more than most_runs, or the lanes are not scattered.
  unsigned falling_runs = 0;
  lane_run falling[most_runs];
  std::uint64_t offset[32];  // by lane, from the first lane's address; 0 for inactive lanes

  // Writes the addresses values[l] + immediate of all lanes, wrapping as type A does. Returns
  // whether the lanes `now` have this shape.
  template <class A>
  bool reach(const A* values, std::uint64_t immediate, std::uint32_t now,
             std::uint64_t* address) const {
    const auto add = [&] {
      if constexpr (sizeof(A) == 4)
        return add_u32;
      else
        return add_u64;
    }();
    return (add(values, static_cast<A>(immediate), address, offset, first, now) == 0) &
           (now == active);
  }
  // Sets the shape to that of these accesses of `bytes` bytes each. `now` must not be 0.
  void describe(const std::uint64_t* address, std::uint32_t now, unsigned bytes);

 private:
  void find_runs(unsigned bytes);
  void find_falling_runs(unsigned bytes);

  // Writes the addresses. Returns 0 if the lanes `now` have the distances `offset` from lane
  // `first`.
  template <class A>
  using adder = std::uint64_t(const A* values, A immediate, std::uint64_t* address,
                              const std::uint64_t* offset, std::uint32_t first, std::uint32_t now);
  static adder<std::uint32_t>* const add_u32;
  static adder<std::uint64_t>* const add_u64;
};

}  // namespace stepwise::emulator
