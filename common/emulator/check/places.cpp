// Looks instructions up in source maps, one per function, and reads the source's text.
#include "common/emulator/check/places.hpp"

#include <filesystem>

namespace stepwise::emulator {
namespace {

std::string base_name(const std::string& path) { return std::filesystem::path(path).filename(); }

}  // namespace

const source_map& places::map_of(const program_function& f) {
  auto& map = maps_[f.function];
  if (map == nullptr) map = std::make_unique<source_map>(*f.module, *f.function, nullptr);
  return *map;
}

code_place places::of(const program& code, std::uint32_t function, std::int32_t instruction) {
  code_place place;
  if (instruction < 0 || function >= code.functions.size()) return place;
  const source_map& map = map_of(code.functions[function]);
  if (static_cast<std::size_t>(instruction) >= map.instructions.size()) return place;
  const instruction_source& s = map.instructions[static_cast<std::size_t>(instruction)];
  if (s.line == no_index) return place;
  const source_line& line = map.lines[s.line];
  place.file = base_name(line.file);
  place.line = static_cast<int>(line.line);
  place.text = text_.line(line.file, line.line);
  if (s.inner != no_index && !map.chains[s.inner].empty()) {
    const source_frame& inner = map.chains[s.inner].back();
    if (!inner.function.empty()) place.inner = own_name(inner) + " at ";
    place.inner += base_name(inner.at.file) + ":" + std::to_string(inner.at.line);
  }
  return place;
}

std::vector<source_line> places::chain_of(const program& code, const op* at) {
  const std::int32_t instruction =
      code.instruction[static_cast<std::size_t>(at - code.code.data())];
  const source_map& map = map_of(code.function_of(at));
  if (instruction < 0 || static_cast<std::size_t>(instruction) >= map.instructions.size())
    return {};
  const instruction_source& s = map.instructions[static_cast<std::size_t>(instruction)];
  if (s.line == no_index) return {};
  std::vector<source_line> chain{map.lines[s.line]};
  if (s.inner != no_index)
    for (const source_frame& f : map.chains[s.inner]) chain.push_back(f.at);
  return chain;
}

std::vector<std::string> places::lines(const std::string& file, std::uint32_t first,
                                       std::uint32_t last) {
  std::vector<std::string> found;
  for (std::uint32_t n = first; n <= last; ++n) found.emplace_back(text_.whole_line(file, n));
  return found;
}

bool places::is_library(const program& code, std::uint32_t function, std::int32_t instruction) {
  if (instruction < 0 || function >= code.functions.size()) return false;
  const source_map& map = map_of(code.functions[function]);
  const std::uint32_t line = map.instructions[static_cast<std::size_t>(instruction)].line;
  return line != no_index && !map.lines[line].of_user;
}

code_place places::of(const program& code, const op* at) {
  const program_function& f = code.function_of(at);
  std::uint32_t function = 0;
  while (&code.functions[function] != &f) ++function;
  return of(code, function, code.instruction[static_cast<std::size_t>(at - code.code.data())]);
}

}  // namespace stepwise::emulator
