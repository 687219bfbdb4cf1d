// What many tests include, compiled once: meson.build here says for which.
#include <doctest/doctest.h>

#include "common/pch/precompiled.hpp"
