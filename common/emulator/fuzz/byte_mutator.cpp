// Mutates binary formats for the replay. libFuzzer has better mutations of its own.
#include <cstdint>
#include <cstring>

#include "common/emulator/fuzz/mutator.hpp"

namespace stepwise::fuzz {

void change(std::string& input, std::mt19937& random) {
  if (input.empty()) return;
  const std::size_t at = random() % input.size();
  constexpr std::uint32_t notable[] = {0, 1, 0x7F, 0x80, 0xFF, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF};
  switch (random() % 4) {
    case 0:
      input[at] = static_cast<char>(random());
      break;
    case 1:
      input[at] = static_cast<char>(input[at] ^ 1 << random() % 8);
      break;
    case 2: {
      const std::uint32_t value = notable[random() % std::size(notable)];
      std::memcpy(input.data() + at, &value, std::min<std::size_t>(4, input.size() - at));
      break;
    }
    default:
      input.erase(at, 1 + random() % 8);
  }
}

}  // namespace stepwise::fuzz
