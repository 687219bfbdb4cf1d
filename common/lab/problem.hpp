// What a lab asks of a student's function: inputs, a reference, a comparison, and the work.
//
// idea    labs/<lab>/problem.cpp derives one class. It is a shared object,
// build/labs/problem-<lab>.so,
//         which only `lab` loads, so that no answer is ever in the process that runs a student's
//         code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/lab/call_file.hpp"

namespace stepwise {

struct problem_buffer {
  std::string name;  // as in the contract
  runner::buffer_role role{};
  std::vector<std::byte> data;  // inputs: content; others have none, they may be gigabytes
  std::uint64_t bytes = 0;      // size
};

// One call of the contract's function with its inputs. Buffers and scalars are in the order of
// the function's parameters.
struct problem_call {
  std::string label;  // "n = 1023, seed 7"
  std::vector<problem_buffer> buffers;
  std::vector<std::int64_t> scalars;
  runner::memory_kind memory = runner::memory_kind::device;  // in which the contract's arrays lie

  // A buffer after the others. An input's bytes are zero, and lie where any type may.
  void add_input(std::string name, std::uint64_t bytes);
  void add_output(std::string name, std::uint64_t bytes);
  void add_scratch(std::string name, std::uint64_t bytes);
};

// What one call must do at least; bytes count each input once and each output once.
struct problem_work {
  double bytes = 0;
  double operations = 0;
  std::string operation_unit;  // "additions", "flop"
  // What a rate counts, where it is not the bytes: all that any algorithm gets done, "flop" or
  // "pairs".
  double rated = 0;
  std::string rated_unit = {};

  double amount() const { return rated_unit.empty() ? bytes : rated; }
};

class problem {
 public:
  virtual ~problem() = default;

  // A size is what lab.toml lists under sizes: the contract's scalars, and sometimes a kind of
  // inputs.
  using size = std::vector<std::int64_t>;

  // A call with fresh inputs: same size and seed, same bytes. Inputs are asymmetric and random.
  virtual problem_call make_call(const size& n, std::uint64_t seed) const = 0;

  // Compares the outputs (one span per output buffer, in order) with the reference. nullopt if
  // they are right; else one sentence as conventions ask: what was expected, what was found, where,
  // and what it looks like (a dropped tail, nothing written, ...).
  virtual std::optional<std::string> check(
      const problem_call& call, std::span<const std::span<const std::byte>> outputs) const = 0;

  virtual problem_work work(const size& n) const = 0;
};

// problem.cpp ends with STEPWISE_PROBLEM(reduction_problem), the function that load_problem()
// calls.
#define STEPWISE_PROBLEM(type)                                                          \
  extern "C" __attribute__((visibility("default"))) const problem* stepwise_problem() { \
    static const type the_problem;                                                      \
    return &the_problem;                                                                \
  }

// The problem in a shared object, which stays loaded. std::runtime_error with the loader's message
// if it cannot be loaded or holds no problem.
const problem& load_problem(const std::filesystem::path& library);

}  // namespace stepwise
