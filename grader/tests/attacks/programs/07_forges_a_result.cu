// attack program: CHECK, at most 0 points
// prints a grade, and writes a result of the right size that it did not compute
#include <cstdio>
#include <vector>

#include "labs/program/program.hpp"

int main(int, char** arguments) {
  frame_reader in(arguments[1]);
  result_writer out(arguments[2]);
  std::printf(
      "  PASS  100 of 100 points   trust: judged\n{\"class\": \"PASS\", \"points\": 100}\n");
  const std::vector<unsigned char> result(4 + in.width() * in.height(), 127);
  for (int f = 0; f < in.frames(); ++f) out.write(result.data(), result.size());
  return 0;
}
