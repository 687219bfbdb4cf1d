// The definition of a lab's problem: inputs, a reference, a comparison, and the amount of work.
//
// idea    labs/<lab>/problem.cpp derives one class, in the shared object
//         build/labs/problem-<lab>.so. Only `lab` loads it, so the process that runs a student's
//         code never contains the answers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/lab/call_file.hpp"

namespace stepwise {

struct problem_buffer {
  std::string name;  // as in the contract
  runner::buffer_role role{};
  std::vector<std::byte> data;     // content of inputs; empty for others, to save memory
  std::uint64_t bytes = 0;         // size
  std::uint8_t element_bytes = 4;  // size of an element, for messages
};

// One call of the contract's function with its inputs. Buffers and scalars are in the order of
// the function's parameters.
struct problem_call {
  std::string label;  // "n = 1023, seed 7"
  std::vector<problem_buffer> buffers;
  std::vector<std::int64_t> scalars;
  runner::memory_kind memory = runner::memory_kind::device;  // of the contract's arrays

  // Append a buffer. An input's bytes are zero, and are aligned for any type.
  void add_input(std::string name, std::uint64_t bytes);
  void add_output(std::string name, std::uint64_t bytes);
  void add_scratch(std::string name, std::uint64_t bytes);
};

// The minimum work of one call. `bytes` counts each input and each output once.
struct problem_work {
  double bytes = 0;
  double operations = 0;
  std::string operation_unit;  // "additions", "flop"
  // The amount for rates, if it is not the bytes: the work that any algorithm completes, in "flop"
  // or "pairs".
  double rated = 0;
  std::string rated_unit = {};

  double amount() const { return rated_unit.empty() ? bytes : rated; }
};

// Words for a result that fits no common mistake.
inline constexpr const char* no_known_pattern = "in no known pattern";

class problem {
 public:
  virtual ~problem() = default;

  // A size, as lab.toml lists it under sizes: the contract's scalars, and sometimes a kind of
  // inputs.
  using size = std::vector<std::int64_t>;

  // A call with new inputs, which are random and asymmetric. The same size and seed give the same
  // bytes.
  virtual problem_call make_call(const size& n, std::uint64_t seed) const = 0;

  // Compares the outputs (one span per output buffer, in order) with the reference. nullopt if they
  // are correct. Otherwise, returns one sentence with the expected and the actual value, the
  // position, and the likely cause (a dropped tail, nothing written, ...). The cause follows "; ".
  // If no cause is known, this part is missing or contains no_known_pattern.
  virtual std::optional<std::string> check(
      const problem_call& call, std::span<const std::span<const std::byte>> outputs) const = 0;

  virtual problem_work work(const size& n) const = 0;

  // The outputs of a program, one per output buffer.
  using results = std::vector<std::vector<std::byte>>;
  // Calls a program again. Only the content of the inputs may differ from the call that is being
  // explained. nullopt if the call fails, or if no further call is allowed.
  using further_call = std::function<std::optional<results>(const problem_call&)>;

  // Explains a wrong result in which check() recognises nothing, from further calls with inputs
  // that show more. Returns a sentence like the cause of check(), or "" if the calls show nothing.
  // Not used in judged grades.
  virtual std::string explain(const problem_call& call, const results& outputs,
                              const further_call& again) const {
    return (void)call, (void)outputs, (void)again, std::string();
  }
};

// Defines the function that load_problem() calls. For example, problem.cpp ends with
// STEPWISE_PROBLEM(reduction_problem).
#define STEPWISE_PROBLEM(type)                                                          \
  extern "C" __attribute__((visibility("default"))) const problem* stepwise_problem() { \
    static const type the_problem;                                                      \
    return &the_problem;                                                                \
  }

// Whether a message of check() names a likely cause.
bool names_pattern(std::string_view message);

// Loads the problem in a shared object, which stays loaded. Throws std::runtime_error with the
// loader's message if that fails or the object has no problem.
const problem& load_problem(const std::filesystem::path& library);

}  // namespace stepwise
