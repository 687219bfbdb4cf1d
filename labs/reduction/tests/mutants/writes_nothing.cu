// reduction mutant: does nothing at all, and hopes for the last run's result.
#include "common/lab/ceil_div.hpp"
#include "labs/reduction/reduction.hpp"

void reduce(const int*, int*, int*, int) {}
