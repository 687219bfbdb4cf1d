// attack reduction: COMPILE or WRONG, at most 0 points
// makes the compiler print gigabytes
#include "labs/reduction/reduction.hpp"

#define A "stepwise stepwise stepwise stepwise stepwise stepwise stepwise "
#define B A A A A A A A A A A A A A A A A
#define C B B B B B B B B B B B B B B B B
#define D C C C C C C C C C C C C C C C C
#define E D D D D D D D D D D D D D D D D
#define SAY(x) _Pragma("GCC warning \"x\"") static_assert(sizeof(x) == 1, E)
SAY(E);
SAY(E);
SAY(E);
SAY(E);
SAY(E);
SAY(E);
SAY(E);
SAY(E);
SAY(E);
SAY(E);
SAY(E);
SAY(E);
SAY(E);
SAY(E);
SAY(E);
SAY(E);

void reduce(const int*, int*, int*, int) { return E; }
