// Random numbers that are the same on every machine, for the labs' inputs.
//
// idea    The standard library's generators are portable but slow to seed, and its distributions
//         are not portable. splitmix64 is three lines, passes BigCrush, and takes any seed. But
//         splitmix64 is invertible, so one number reveals all later numbers. Judged grades use
//         seeds from least_secret_seed on. For these seeds, a second step with a second secret
//         keeps a program that knows a few of a call's numbers from computing the others on the
//         host.
// watch   This is not a cipher. It only has to resist for the few seconds of a call.
// source  G. Steele, D. Lea, C. Flood, "Fast Splittable Pseudorandom Number Generators" (2014).
// tested  common/lab/tests/lab_test.cpp
#pragma once

#include <cstdint>
#include <span>

namespace stepwise {

inline constexpr std::uint64_t least_secret_seed = std::uint64_t{1} << 32;

class random_stream {
 public:
  // If `secret` is 0, this is plain splitmix64.
  explicit constexpr random_stream(std::uint64_t seed, std::uint64_t secret = 0)
      : state_(seed), secret_(secret) {}

  // 64 random bits.
  constexpr std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15;
    const std::uint64_t bits = mixed(state_);
    return secret_ == 0 ? bits : mixed(bits + secret_);
  }

  // The stream after skipping this many numbers.
  constexpr random_stream after(std::uint64_t numbers) const {
    return random_stream(state_ + numbers * 0x9e3779b97f4a7c15, secret_);
  }

  // An independent stream for part `number` of this stream's data. It is secret if this stream is.
  constexpr random_stream part(std::uint64_t number) const {
    const std::uint64_t seed = random_stream(*this).next();
    return random_stream(random_stream(seed).next() + random_stream(~number).next(),
                         secret_ == 0 ? 0 : random_stream(~seed).next() | 1);
  }

 private:
  static constexpr std::uint64_t mixed(std::uint64_t bits) {
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
    return bits ^ (bits >> 31);
  }

  std::uint64_t state_, secret_;
};

// A separate stream for every buffer of every call. If two buffers had the same seed, then, for
// example, two matrices would be equal, and a transposed result could pass.
constexpr random_stream stream_for(std::uint64_t seed, std::uint64_t buffer) {
  const std::uint64_t secret = seed < least_secret_seed ? 0 : random_stream(~seed).next() | 1;
  return random_stream(random_stream(seed).next() + random_stream(~buffer).next(), secret);
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
