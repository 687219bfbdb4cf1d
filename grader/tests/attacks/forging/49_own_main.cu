// attack reduction: COMPILE or PROTOCOL, at most 0 points
// defines main()
#include "labs/reduction/reduction.hpp"

void reduce(const int*, int*, int*, int) {}
int main() { return 0; }
