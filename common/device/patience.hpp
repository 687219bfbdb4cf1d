// The time that a kernel or the host may wait before a message on stderr names the kernel.
//
// tests   common/emulator/run/tests/left_launches_test.cpp, common/driver/tests/waits_test.py
#pragma once

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace stepwise {

struct patience {
  double seconds = 10;

  // STEPWISE_PATIENCE_S, if it is a number above 0.
  static patience from_environment() {
    const char* const text = std::getenv("STEPWISE_PATIENCE_S");
    const double value = text != nullptr ? std::strtod(text, nullptr) : 0;
    return value > 0 && value < 1e6 ? patience{value} : patience{};
  }
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
