// Starts the runtime's unit tests: errors_test.cpp, launch_test.cpp, memory_test.cpp.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
