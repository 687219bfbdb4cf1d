// launch mutant: does nothing at all, and hopes for the last run's result.
#include "labs/launch/launch.hpp"

void add(const float*, const float*, float*, int) {}
