// Starts the tests of descriptions and rules: gpu_test.cpp, rules_test.cpp.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
