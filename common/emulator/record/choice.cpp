// Reads the recording options from the environment.
#include <charconv>
#include <cstdio>
#include <sstream>

#include "common/emulator/record/recorder.hpp"

namespace stepwise::emulator {
namespace {

template <class Number>
bool read_list(std::string_view text, std::vector<Number>& to, std::size_t most) {
  to.clear();
  while (!text.empty() && to.size() < most) {
    Number n{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
    if (error != std::errc()) return false;
    to.push_back(n);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (text.empty()) return true;
    if (text[0] != ',' || text.size() == 1) return false;
    text.remove_prefix(1);
  }
  return text.empty() && !to.empty();
}

bool read_word(std::string_view name, std::string_view value, recording_choice& c) {
  std::vector<std::uint64_t> one;
  if (name == "warps" && value == "all") return c.warps.clear(), true;
  if (name == "warps") return read_list(value, c.warps, 32);
  if (name == "block") return read_list(value, c.block, 3);
  if (!read_list(value, one, 1) || one[0] == 0) return false;
  if (name == "launch")
    c.launch = one[0];
  else if (name == "first")
    c.first = one[0];
  else if (name == "steps" && one[0] <= warp_recording::most_steps)
    c.steps = one[0];
  else
    return false;
  return true;
}

}  // namespace

recording_choice recording_wanted(const engine_settings& settings) {
  recording_choice c;
  if (settings.record.empty()) return c;
  std::istringstream words(settings.record_of);
  for (std::string word; words >> word;) {
    const auto sign = word.find('=');
    if (sign != std::string::npos && read_word(std::string_view(word).substr(0, sign),
                                               std::string_view(word).substr(sign + 1), c))
      continue;
    std::fprintf(stderr,
                 "stepwise: STEPWISE_RECORD_OF: %s is not one of launch=N, block=N or X,Y,Z, "
                 "warps=N,N or all, first=N, steps=N (at most 20000): nothing is recorded\n",
                 word.c_str());
    return {};
  }
  c.file = settings.record;
  return c;
}

}  // namespace stepwise::emulator
