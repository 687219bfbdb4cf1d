// doctest's code: the test programs link it, see doctest in the root meson.build.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
