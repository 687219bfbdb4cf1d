// The function that a runner calls, made callable with a list of buffers and a list of numbers.
//
// idea    The parameter list of a lab's contract says all that is needed: pointers take the call's
//         buffers in order, integers its scalars in order. Templates read it; no lab writes glue.
// tested  common/runner/tests/runner_test.cpp
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace stepwise::runner {

struct contract {
  const char* name;  // of the function
  std::size_t pointers;
  std::size_t integers;
  // Both spans have the lengths above. Throws std::out_of_range if a scalar does not fit the type
  // of its parameter, and whatever the function throws.
  void (*call)(std::span<void* const> buffers, std::span<const std::int64_t> scalars);
};

// The contract that this program was linked with.
extern const contract lab_contract;

template <class Parameter>
Parameter take_argument(std::span<void* const>& buffers, std::span<const std::int64_t>& scalars) {
  static_assert(std::is_pointer_v<Parameter> || std::is_integral_v<Parameter>,
                "a contract's parameters are pointers and integers");
  if constexpr (std::is_pointer_v<Parameter>) {
    void* const buffer = buffers.front();
    buffers = buffers.subspan(1);
    return static_cast<Parameter>(buffer);
  } else {
    const std::int64_t scalar = scalars.front();
    scalars = scalars.subspan(1);
    if (!std::in_range<Parameter>(scalar)) {
      throw std::out_of_range("the number " + std::to_string(scalar) +
                              " does not fit its parameter");
    }
    return static_cast<Parameter>(scalar);
  }
}

template <auto Function>
struct contract_of;

template <class... Parameters, void (*Function)(Parameters...)>
struct contract_of<Function> {
  static constexpr std::size_t pointers = (std::size_t{0} + ... + std::is_pointer_v<Parameters>);

  static void call(std::span<void* const> buffers, std::span<const std::int64_t> scalars) {
    // Braces: the arguments are taken from left to right.
    std::tuple<Parameters...> arguments{take_argument<Parameters>(buffers, scalars)...};
    std::apply(Function, arguments);
  }

  static constexpr contract make(const char* name) {
    return {name, pointers, sizeof...(Parameters) - pointers, &call};
  }
};

}  // namespace stepwise::runner
