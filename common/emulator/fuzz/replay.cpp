// Runs a fuzz target over a corpus without a fuzzer, and packs corpora.
//
// usage   replay_TARGET CORPUS.pack SEED...    every input of the corpus as it is; every seed,
//                                              which the target must accept, and changes of it. The
//                                              changes depend on the seed only: a failure repeats.
//         replay_TARGET --input FILE           says what comes of one input
//         replay_TARGET --pack CORPUS.pack FOLDER...   all files of the folders into one
//         replay_TARGET --unpack CORPUS.pack FOLDER
//         A pack is {u32 size, LZ4 block} of records {u32 size, bytes}, in the order of their
//         bytes.
#include <fcntl.h>
#include <lz4.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>

#include "common/emulator/fuzz/mutator.hpp"
#include "common/emulator/fuzz/target.hpp"

namespace stepwise::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr int changes_per_seed = 1000;
constexpr std::uint32_t largest_pack = 64 << 20;

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

// What is being run, for keep_input().
const std::string* current = nullptr;
constexpr const char* kept = "failed-input";

// Writes the input that ended the process into the working folder.
void keep_input(int signal) {
  const int file = open(kept, O_CREAT | O_TRUNC | O_WRONLY, 0600);
  if (file >= 0 && write(file, current->data(), current->size()) >= 0)
    std::fprintf(stderr, "the input is in the file %s\n", kept);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

outcome run(const std::string& input) {
  current = &input;
  // A copy of its own size, so that a sanitiser sees a read behind it.
  const auto exact = std::make_unique<std::byte[]>(input.size());
  std::memcpy(exact.get(), input.data(), input.size());
  return checked({exact.get(), input.size()});
}

std::set<std::string> read_pack(const fs::path& path) {
  const std::string packed = content_of(path);
  std::uint32_t size = 0;
  if (packed.size() >= sizeof size) std::memcpy(&size, packed.data(), sizeof size);
  if (size > largest_pack) throw std::runtime_error(path.string() + " is no corpus");
  std::string all(size, '\0');
  const int got = packed.size() < sizeof size
                      ? -1
                      : LZ4_decompress_safe(packed.data() + sizeof size, all.data(),
                                            static_cast<int>(packed.size() - sizeof size),
                                            static_cast<int>(size));
  if (got != static_cast<int>(size)) throw std::runtime_error(path.string() + " is damaged");
  std::set<std::string> inputs;
  for (std::size_t at = 0; at + 4 <= all.size();) {
    std::uint32_t bytes = 0;
    std::memcpy(&bytes, all.data() + at, sizeof bytes);
    if (bytes > all.size() - at - 4) throw std::runtime_error(path.string() + " is damaged");
    inputs.insert(all.substr(at + 4, bytes));
    at += 4 + bytes;
  }
  return inputs;
}

void write_pack(const fs::path& path, const std::set<std::string>& inputs) {
  std::string all;
  for (const std::string& input : inputs) {
    const auto bytes = static_cast<std::uint32_t>(input.size());
    all.append(reinterpret_cast<const char*>(&bytes), sizeof bytes);
    all += input;
  }
  const auto size = static_cast<std::uint32_t>(all.size());
  std::string packed(
      sizeof size + static_cast<std::size_t>(LZ4_compressBound(static_cast<int>(size))), '\0');
  std::memcpy(packed.data(), &size, sizeof size);
  const int used =
      LZ4_compress_default(all.data(), packed.data() + sizeof size, static_cast<int>(size),
                           static_cast<int>(packed.size() - sizeof size));
  packed.resize(sizeof size + static_cast<std::size_t>(used));
  std::ofstream(path, std::ios::binary) << packed;
  std::printf("%zu inputs, %zu bytes, packed %zu bytes\n", inputs.size(), all.size(),
              packed.size());
}

void unpack(const fs::path& path, const fs::path& folder) {
  fs::create_directories(folder);
  std::size_t number = 0;
  for (const std::string& input : read_pack(path))
    std::ofstream(folder / ("packed-" + std::to_string(number++)), std::ios::binary) << input;
}

// False, told, if the target refuses the seed.
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

// A folder of the machine that made the input; /home/student is everybody's.
bool names_a_machine(const std::string& input) {
  for (const std::string_view folder : {"/root/", "/Users/", "/home/"}) {
    for (auto at = input.find(folder); at != std::string::npos; at = input.find(folder, at + 1)) {
      const std::string_view rest = std::string_view(input).substr(at);
      if (rest.starts_with("/home/student/") || rest.starts_with("/home//")) continue;
      if (rest.size() > folder.size()) return true;
    }
  }
  return false;
}

int replay(int count, char** arguments) {
  std::size_t accepted = 0, refused = 0, of_machines = 0;
  for (const std::string& input : read_pack(arguments[0])) {
    ++(run(input).accepted ? accepted : refused);
    of_machines += names_a_machine(input);
  }
  if (of_machines > 0) {
    std::printf("%s: %zu inputs name a folder of the machine that made them (README.md)\n",
                arguments[0], of_machines);
    return 1;
  }
  std::printf("%s: %zu inputs accepted, %zu refused\n", arguments[0], accepted, refused);
  bool good = accepted > 0 && refused > 0;
  for (int n = 1; n < count; ++n) good &= replay_seed(arguments[n]);
  return good ? 0 : 1;
}

int command(int count, char** arguments) {
  const std::string what = count > 1 ? arguments[1] : "";
  if (what == "--pack" && count > 3) {
    std::set<std::string> inputs;
    for (int n = 3; n < count; ++n)
      for (const auto& file : fs::directory_iterator(arguments[n]))
        inputs.insert(content_of(file.path()));
    write_pack(arguments[2], inputs);
    return 0;
  }
  if (what == "--unpack" && count == 4) return unpack(arguments[2], arguments[3]), 0;
  if (what == "--input" && count == 3) {
    const outcome o = run(content_of(arguments[2]));
    std::printf("%s\n", o.accepted ? "accepted" : o.message.c_str());
    return 0;
  }
  if (what.empty() || what[0] == '-') {
    std::fprintf(stderr, "usage: %s CORPUS.pack SEED... (more in replay.cpp)\n", arguments[0]);
    return 2;
  }
  return replay(count - 1, arguments + 1);
}

}  // namespace
}  // namespace stepwise::fuzz

int main(int argc, char** argv) {
  try {
    for (const int signal : {SIGABRT, SIGFPE, SIGILL})
      std::signal(signal, stepwise::fuzz::keep_input);
    return stepwise::fuzz::command(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s: %s\n", argv[0], e.what());
    return 4;
  }
}
