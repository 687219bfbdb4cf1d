// Precompiled headers for tests, for the targets listed in meson.build here.
#include <doctest/doctest.h>

#include "common/pch/precompiled.hpp"
