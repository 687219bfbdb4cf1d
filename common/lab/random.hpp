// Random numbers that are the same on every machine, for the labs' inputs.
//
// idea    The standard's generators are portable, its distributions are not, and both are slow to
//         seed. splitmix64 is three lines, passes BigCrush, and takes any seed.
// source  G. Steele, D. Lea, C. Flood, "Fast Splittable Pseudorandom Number Generators" (2014).
// tested  common/lab/tests/lab_test.cpp
#pragma once

#include <cstdint>
#include <span>

namespace stepwise {

class random_stream {
 public:
  explicit constexpr random_stream(std::uint64_t seed) : state_(seed) {}

  // 64 random bits.
  constexpr std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15;
    std::uint64_t bits = state_;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
    return bits ^ (bits >> 31);
  }

  // The stream as it is after that many numbers.
  constexpr random_stream after(std::uint64_t numbers) const {
    return random_stream(state_ + numbers * 0x9e3779b97f4a7c15);
  }

 private:
  std::uint64_t state_;
};

// A stream of its own for every buffer of every call: equal seeds of two buffers would make, say,
// two matrices alike, and then a transposed result could pass.
constexpr random_stream stream_for(std::uint64_t seed, std::uint64_t buffer) {
  return random_stream(random_stream(seed).next() + random_stream(~buffer).next());
}

// Fills with integers from the whole range of int.
constexpr void fill_with_ints(std::span<std::int32_t> values, random_stream random) {
  for (std::size_t i = 0; i < values.size(); i += 2) {
    const std::uint64_t bits = random.next();
    values[i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(bits));
    if (i + 1 < values.size()) values[i + 1] = static_cast<std::int32_t>(bits >> 32);
  }
}

}  // namespace stepwise
