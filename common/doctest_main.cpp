// The main of every test program that has none of its own.
#include <doctest/doctest.h>

#include "common/skip_case.hpp"

int main(int argc, char** argv) { return stepwise::with_skips(doctest::Context(argc, argv).run()); }
