// attack reduction: COMPILE, at most 0 points
// has the assembler include system files, whose lines it would quote
#include "labs/reduction/reduction.hpp"

asm(".include \"/etc/passwd\"");
asm(".include \"/proc/1/environ\"");

void reduce(const int*, int*, int*, int) {}
