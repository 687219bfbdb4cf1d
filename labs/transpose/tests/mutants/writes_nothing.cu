// transpose mutant: does nothing at all, and hopes for the last run's result.
#include "labs/transpose/transpose.hpp"

void transpose(const float*, float*, int, int) {}
