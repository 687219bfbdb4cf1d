// The time that a kernel or the host may wait before a message on stderr names the kernel.
//
// tests   common/emulator/run/tests/left_launches_test.cpp, common/driver/tests/waits_test.py
#pragma once

#include <chrono>
#include <cstdio>
#include <string>

namespace stepwise {

struct patience {
  double seconds = 10;

  std::chrono::steady_clock::duration duration() const {
    return std::chrono::duration_cast<std::chrono::steady_clock::duration>(
        std::chrono::duration<double>(seconds));
  }
  // For example "10 s".
  std::string text() const {
    char digits[32];
    std::snprintf(digits, sizeof digits, "%g s", seconds);
    return digits;
  }
};

}  // namespace stepwise
