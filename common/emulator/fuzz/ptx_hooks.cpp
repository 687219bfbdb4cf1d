// Gives libFuzzer the mutations of PTX, in addition to its own mutations of bytes.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "common/emulator/fuzz/mutator.hpp"
#include "common/emulator/fuzz/ptx_mutator.hpp"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace {

std::size_t give(const std::string& text, std::uint8_t* data, std::size_t most) {
  const std::size_t size = std::min(text.size(), most);
  std::memcpy(data, text.data(), size);
  return size;
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  std::mt19937 random(seed);
  if (random() % 8 == 0) return LLVMFuzzerMutate(data, size, most);
  std::string text(reinterpret_cast<const char*>(data), size);
  for (unsigned n = 1 + random() % 3; n-- > 0;) stepwise::fuzz::change(text, random);
  return give(text, data, most);
}

extern "C" std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* first, std::size_t first_size,
                                                 const std::uint8_t* second,
                                                 std::size_t second_size, std::uint8_t* out,
                                                 std::size_t most, unsigned seed) {
  std::mt19937 random(seed);
  std::string text(reinterpret_cast<const char*>(first), first_size);
  stepwise::fuzz::cross(text, {reinterpret_cast<const char*>(second), second_size}, random);
  return give(text, out, most);
}
