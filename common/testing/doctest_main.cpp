// The main() of every test program without its own.
#include <doctest/doctest.h>

#include "common/testing/skip_case.hpp"

int main(int argc, char** argv) {
  doctest::Context context(argc, argv);
  const int status = context.run();
  return context.shouldExit() ? status : stepwise::with_skips(status);
}
