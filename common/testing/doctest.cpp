// doctest's implementation, which the test programs link; see doctest in the root meson.build.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
