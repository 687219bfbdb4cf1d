// matmul mutant: does nothing at all, and hopes for the last run's result.
#include "labs/matmul/matmul.hpp"

void matmul(const float*, const float*, float*, int) {}
