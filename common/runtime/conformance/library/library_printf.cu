// printf in kernels: every kind of argument, the value that it returns, and that the text is there
// when the host has waited for the device.
#include <unistd.h>

#include <string>

#include "common/emulator/tests/programs/program.hpp"

__global__ void speak(int* counts, const char* text) {
  if (threadIdx.x != 0) return;
  counts[0] = printf("plain\n");
  counts[1] = printf("%d %i %u %x|%5d|%-5d|%05d|%+d\n", -1, 2, 3000000000u, 255, 42, 42, 42, 42);
  counts[2] = printf("%lld %llu %llx %ld\n", -5000000000LL, 18446744073709551615ULL,
                     0x123456789abcdefLL, 77L);
  counts[3] = printf("%f %.3f %e %g %10.2f|\n", 1.5, 3.14159f, 12345.678, 0.0001, -2.5);
  counts[4] = printf("%c%c %s %s %%\n", 'o', 'k', "literal", text);
  counts[5] = printf("%hd %*d\n", static_cast<short>(7), 8, 9);
}

__global__ void in_order(int rounds) {
  for (int k = 0; k < rounds; ++k)
    if (threadIdx.x == 0) printf("round %d\n", k);
}

// The text that `work` writes to the standard output.
template <class Work>
std::string output_of(Work work) {
  std::fflush(stdout);
  int ends[2];
  if (pipe(ends) != 0) std::exit(1);
  const int saved = dup(1);
  dup2(ends[1], 1);
  work();
  std::fflush(stdout);
  dup2(saved, 1);
  close(saved);
  close(ends[1]);
  std::string text;
  char part[4096];
  for (ssize_t n; (n = read(ends[0], part, sizeof part)) > 0;) text.append(part, n);
  close(ends[0]);
  return text;
}

int wrong(const char* what, const std::string& found, const std::string& expected) {
  if (found == expected) return 0;
  std::printf("%s: found\n%s\nexpected\n%s\n", what, found.c_str(), expected.c_str());
  return 1;
}

int main() {
  device_array<int> counts(6);
  const std::string word = "from memory";
  device_array<char> text(std::vector<char>(word.c_str(), word.c_str() + word.size() + 1));
  std::string found = output_of([&] {
    speak<<<1, 32>>>(counts.get(), text.get());
    check(cudaDeviceSynchronize());
  });
  int failed = wrong("formats", found,
                     "plain\n-1 2 3000000000 ff|   42|42   |00042|+42\n"
                     "-5000000000 18446744073709551615 123456789abcdef 77\n"
                     "1.500000 3.142 1.234568e+04 0.0001      -2.50|\nok literal from memory %\n"
                     "7        9\n");
  failed += compare("arguments", counts.values(), std::vector<int>{0, 8, 4, 5, 4, 3});
  found = output_of([&] {
    in_order<<<1, 32>>>(100);
    check(cudaDeviceSynchronize());
  });
  std::string rounds;
  for (int k = 0; k < 100; ++k) rounds += "round " + std::to_string(k) + "\n";
  failed += wrong("order", found, rounds);
  if (failed == 0) std::printf("printf: all right\n");
  return failed != 0;
}
