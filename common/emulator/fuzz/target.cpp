// The common frame of all targets, and libFuzzer's entry point.
#include "common/emulator/fuzz/target.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace stepwise::fuzz {
namespace {

// A message may quote names from the input, but it may quote each name at most a few times.
constexpr std::size_t own_words = 1000, quotations = 4;

bool is_control(char c) { return static_cast<unsigned char>(c) < ' ' || c == 0x7F; }

}  // namespace

void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "fuzz: %s\n", what);
  std::abort();
}

outcome checked(std::span<const std::byte> input) {
  outcome o = try_input(input);
  if (o.accepted) return o;
  require(!o.message.empty(), "refused without a message");
  require(o.message.size() <= own_words + quotations * input.size(),
          "a message that is too long to read");
  require(std::ranges::none_of(o.message, is_control), "a message with control characters");
  return o;
}

}  // namespace stepwise::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  stepwise::fuzz::checked({reinterpret_cast<const std::byte*>(data), size});
  return 0;
}
