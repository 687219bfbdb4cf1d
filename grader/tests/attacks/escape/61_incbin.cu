// attack reduction: COMPILE or WRONG, at most 0 points
// has the assembler put a file into the program, and prints it
#include <cstdio>

#include "labs/reduction/reduction.hpp"

asm(R"(.pushsection .rodata
.global stolen
stolen: .incbin "/etc/passwd"
.byte 0
.popsection)");
extern "C" const char stolen[];

void reduce(const int*, int*, int*, int) { std::puts(stolen); }
