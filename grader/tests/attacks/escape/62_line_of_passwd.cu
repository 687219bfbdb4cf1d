// attack reduction: COMPILE, at most 0 points
// says that its mistake is in /etc/passwd, which a message would quote
#include "labs/reduction/reduction.hpp"

void reduce(const int*, int*, int*, int) {
#line 1 "/etc/passwd"
  undeclared();
}
