// attack reduction: COMPILE, at most 0 points
// claims that its error is in /etc/passwd, so that a message would quote that file
#include "labs/reduction/reduction.hpp"

void reduce(const int*, int*, int*, int) {
#line 1 "/etc/passwd"
  undeclared();
}
