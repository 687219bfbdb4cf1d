// Runs a fuzz target over files, without a fuzzer: so the target stays compiled and its corpus
// stays tested. Every file is given as it is, cut short at some places, and with bytes changed; the
// changes depend on the file only, so a failure repeats.
//
// With clang the target itself is a fuzzer: clang++ -fsanitize=fuzzer,address fuzz_*.cpp.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

constexpr int changes_per_file = 2000;

void replay(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> read{std::istreambuf_iterator<char>(file), {}};
  const std::vector<std::uint8_t> original(read.begin(), read.end());
  LLVMFuzzerTestOneInput(original.data(), original.size());
  std::mt19937 random(static_cast<std::uint32_t>(original.size()));
  for (int i = 0; i < changes_per_file && !original.empty(); ++i) {
    std::vector<std::uint8_t> changed = original;
    for (unsigned k = 1 + random() % 8; k-- > 0;) {
      changed[random() % changed.size()] = static_cast<std::uint8_t>(random());
    }
    if (i % 4 == 0) changed.resize(random() % changed.size());
    // A copy of its own size, so that a sanitiser sees a read behind it.
    const std::vector<std::uint8_t> exact(changed.begin(), changed.end());
    LLVMFuzzerTestOneInput(exact.data(), exact.size());
  }
}

}  // namespace

int main(int argc, char** argv) {
  int files = 0;
  for (int i = 1; i < argc; ++i) {
    if (!std::filesystem::is_directory(argv[i])) {
      replay(argv[i]);
      ++files;
      continue;
    }
    for (const auto& entry : std::filesystem::directory_iterator(argv[i])) {
      replay(entry.path());
      ++files;
    }
  }
  if (files == 0) {
    std::fprintf(stderr, "usage: %s FILE_OR_FOLDER...\n", argv[0]);
    return 2;
  }
  std::printf("%d files, each with %d changes: no crash\n", files, changes_per_file);
}
