// CUB's device functions are called twice: to query the bytes of temporary memory, then to run.
#pragma once

#include "common/emulator/tests/programs/program.hpp"

// Makes both calls, f(memory, bytes).
template <class F>
void with_temporary_memory(F f) {
  std::size_t bytes = 0;
  check(f(nullptr, bytes));
  device_array<char> memory(bytes);
  check(f(memory.get(), bytes));
  finish();
}
