// Makes a runner's function callable with a list of buffers and a list of numbers.
//
// idea    Templates read the parameter list of a lab's contract, so no lab needs glue code.
//         Pointers take the buffers of a call in order, and integers take its scalars. A contract
//         can also be a program's main, which takes the names of the call's files.
// watch   nvcc reads this file five times when it compiles many solutions of a lab at once, so it
//         includes none of <span>, <string>, <stdexcept> and <tuple>.
// tested  common/runner/tests/runner_test.cpp
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace stepwise::runner {

struct contract {
  const char* name;  // of the function
  std::size_t pointers;
  std::size_t integers;
  // Calls the function with `pointers` buffers and `integers` scalars. Throws std::out_of_range if
  // a scalar does not fit its parameter's type, and any exception of the function.
  void (*call)(void* const* buffers, const std::int64_t* scalars);
};

// The contract that this program was linked with.
extern const contract lab_contract;

// Throws std::out_of_range with a message that names the number.
[[noreturn]] void refuse_scalar(std::int64_t scalar);

template <class Parameter>
Parameter take_argument(void* const*& buffers, const std::int64_t*& scalars) {
  static_assert(std::is_pointer_v<Parameter> || std::is_integral_v<Parameter>,
                "a contract's parameters are pointers and integers");
  if constexpr (std::is_pointer_v<Parameter>) {
    return static_cast<Parameter>(*buffers++);
  } else {
    const std::int64_t scalar = *scalars++;
    const auto argument = static_cast<Parameter>(scalar);
    if (static_cast<std::int64_t>(argument) != scalar || (argument < 0) != (scalar < 0))
      refuse_scalar(scalar);
    return argument;
  }
}

// A constructor that calls the function, because braces evaluate arguments from left to right.
template <auto Function>
struct call_of {
  template <class... Parameters>
  call_of(Parameters... arguments) {  // NOLINT(google-explicit-constructor)
    Function(arguments...);
  }
};

template <auto Function>
struct contract_of;

template <class... Parameters, void (*Function)(Parameters...)>
struct contract_of<Function> {
  static constexpr std::size_t pointers = (std::size_t{0} + ... + std::is_pointer_v<Parameters>);

  static void call(void* const* buffers, const std::int64_t* scalars) {
    call_of<Function>{take_argument<Parameters>(buffers, scalars)...};
  }

  static constexpr contract make(const char* name) {
    return {name, pointers, sizeof...(Parameters) - pointers, &call};
  }
};

// Calls a program's main with the names of its two files. Throws call_failure (machine.hpp) if main
// does not return 0.
void call_main(int (*program)(int, char**), void* const* names);

template <int (*Main)(int, char**)>
struct contract_of<Main> {
  static void call(void* const* names, const std::int64_t*) { call_main(Main, names); }

  static constexpr contract make(const char* name) { return {name, 2, 0, &call}; }
};

}  // namespace stepwise::runner
