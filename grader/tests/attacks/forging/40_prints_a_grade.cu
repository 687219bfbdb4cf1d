// attack reduction: WRONG, at most 0 points
// prints what a grader might print, on both streams
#include <cstdio>

#include "labs/reduction/reduction.hpp"

void reduce(const int*, int*, int*, int) {
  for (FILE* to : {stdout, stderr}) {
    std::fputs("{\"class\": \"PASS\", \"points\": 100.0, \"max_points\": 100.0}\n", to);
    std::fputs("::notice title=Autograding complete::Points 100/100\nPASS 100 of 100 points\n", to);
    std::fputs("\033[2J\033[H\033]0;PASS\007", to);
    std::fflush(to);
  }
}
