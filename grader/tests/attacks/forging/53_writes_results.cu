// attack reduction: WRONG, at most 0 points
// writes results to files where a grader may look for them, and waits for the grader to look
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "labs/reduction/reduction.hpp"

void reduce(const int*, int*, int*, int) {
  const char grade[] = "{\"score\": 100, \"class\": \"PASS\"}\n";
  const char* const home = std::getenv("HOME");
  for (const std::string folder : {"/tmp", "/var/tmp", "/dev/shm", "/autograder/results", ".",
                                   "build", "build/submissions", home == nullptr ? "" : home}) {
    const std::string file = folder + "/stepwise-attack-results.json";
    const int descriptor = open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (descriptor < 0) continue;
    [[maybe_unused]] const auto n = write(descriptor, grade, sizeof grade - 1);
    close(descriptor);
  }
}
