// Functions that the labs' problem_test.cpp files share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "common/lab/problem.hpp"

// The problem whose shared object Meson passes to the test.
inline const stepwise::problem& problem_under_test() {
  return stepwise::load_problem(std::getenv("STEPWISE_PROBLEM"));
}

// FNV-1a, 64 bits. Tests use it to check that inputs are still the same bytes.
inline std::uint64_t hash_of(std::span<const std::byte> bytes) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const std::byte byte : bytes) {
    hash = (hash ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3;
  }
  return hash;
}
