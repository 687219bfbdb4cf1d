// Runs a fuzz target over a corpus without a fuzzer.
//
// usage   replay_TARGET FOLDER SEED...
//           Every input of the folder as it is: the target must accept those named accepted* and
//           refuse those named refused*. Then every seed, which the target must accept, and changes
//           of the seed. The changes depend only on the seed, so a failure can be repeated.
//         replay_TARGET --input FILE
//           Prints the outcome of one input.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/emulator/fuzz/mutator.hpp"
#include "common/emulator/fuzz/target.hpp"

namespace stepwise::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr int changes_per_seed = 1000;

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

// The current input, for keep_input().
const std::string* current = nullptr;
constexpr const char* kept = "failed-input";

// Writes the input that ended the process into a file in the working directory.
void keep_input(int signal) {
  const int file = open(kept, O_CREAT | O_TRUNC | O_WRONLY, 0600);
  if (file >= 0 && write(file, current->data(), current->size()) >= 0)
    std::fprintf(stderr, "the input is in the file %s\n", kept);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

outcome run(const std::string& input) {
  current = &input;
  // A copy of exact size, so that a sanitiser detects reads past its end.
  const auto exact = std::make_unique<std::byte[]>(input.size());
  std::memcpy(exact.get(), input.data(), input.size());
  return checked({exact.get(), input.size()});
}

// Prints a complaint and returns false if the outcome does not match the input's name.
bool replay_input(const fs::path& path) {
  const outcome o = run(content_of(path));
  const std::string name = path.filename().string();
  if (!name.starts_with(o.accepted ? "refused" : "accepted")) return true;
  std::printf("%s: %s\n", path.c_str(), o.accepted ? "was accepted" : o.message.c_str());
  return false;
}

// Prints a complaint and returns false if the target refuses the seed.
bool replay_seed(const fs::path& path) {
  const std::string seed = content_of(path);
  const outcome whole = run(seed);
  if (!whole.accepted) {
    std::printf("%s: must be accepted, but: %s\n", path.c_str(), whole.message.c_str());
    return false;
  }
  std::mt19937 random(static_cast<std::uint32_t>(seed.size()));
  std::size_t refused = 0;
  for (int n = 0; n < changes_per_seed; ++n) {
    std::string changed = seed;
    for (unsigned k = 1 + random() % 4; k-- > 0;) change(changed, random);
    if (n % 4 == 0) changed.resize(random() % (changed.size() + 1));
    refused += !run(changed).accepted;
  }
  std::printf("%s and %d changes: %zu refused\n", path.c_str(), changes_per_seed, refused);
  return refused > 0;
}

int replay(int count, char** arguments) {
  std::vector<fs::path> inputs;
  for (const auto& file : fs::directory_iterator(arguments[0])) inputs.push_back(file.path());
  std::sort(inputs.begin(), inputs.end());
  bool good = !inputs.empty();
  for (const fs::path& input : inputs) good &= replay_input(input);
  std::printf("%s: %zu inputs\n", arguments[0], inputs.size());
  for (int n = 1; n < count; ++n) good &= replay_seed(arguments[n]);
  return good ? 0 : 1;
}

int command(int count, char** arguments) {
  const std::string what = count > 1 ? arguments[1] : "";
  if (what == "--input" && count == 3) {
    const outcome o = run(content_of(arguments[2]));
    std::printf("%s\n", o.accepted ? "accepted" : o.message.c_str());
    return 0;
  }
  if (what.empty() || what[0] == '-') {
    std::fprintf(stderr, "usage: %s FOLDER SEED... (more in replay.cpp)\n", arguments[0]);
    return 2;
  }
  return replay(count - 1, arguments + 1);
}

}  // namespace
}  // namespace stepwise::fuzz

int main(int argc, char** argv) {
  try {
    for (const int signal : {SIGABRT, SIGFPE, SIGILL, SIGSEGV})
      std::signal(signal, stepwise::fuzz::keep_input);
    return stepwise::fuzz::command(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s: %s\n", argv[0], e.what());
    return 4;
  }
}
