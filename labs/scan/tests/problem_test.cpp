// Tests the scan lab's inputs, its comparison, and its messages about wrong results.
#include "common/lab/problem.hpp"
