// Searches several folders for a file by shorter and shorter tails of its path, and truncates long
// lines.
#include "common/source_map/source_text.hpp"

#include <fstream>
#include <utility>

namespace stepwise::emulator {

namespace fs = std::filesystem;

source_text::source_text(std::vector<fs::path> folders) : folders_(std::move(folders)) {}

fs::path source_text::find(const fs::path& file) const {
  const auto is_file = [](const fs::path& p) {
    std::error_code ignored;
    return fs::is_regular_file(p, ignored);
  };
  if (is_file(file)) return file;
  // The longest tail of the path comes first, because it is the least likely to be another file.
  const fs::path relative = file.relative_path();
  for (auto first = relative.begin(); first != relative.end(); ++first) {
    fs::path rest;
    for (auto part = first; part != relative.end(); ++part) rest /= *part;
    for (const fs::path& folder : folders_) {
      if (is_file(folder / rest)) return folder / rest;
    }
  }
  return {};
}

const std::vector<std::string>& source_text::lines_of(const std::string& file) {
  const auto [at, is_new] = files_.try_emplace(file);
  if (!is_new || file.empty()) return at->second;
  const fs::path found = find(file);
  std::error_code failed;
  if (found.empty() || fs::file_size(found, failed) > largest_file || failed) return at->second;
  std::ifstream content(found);
  for (std::string line; std::getline(content, line);) {
    while (!line.empty() && (line.back() == ' ' || line.back() == '\t' || line.back() == '\r')) {
      line.pop_back();
    }
    at->second.push_back(std::move(line));
  }
  return at->second;
}

std::string_view source_text::whole_line(const std::string& file, std::uint32_t number) {
  const auto& lines = lines_of(file);
  if (number == 0 || number > lines.size()) return {};
  std::string_view text = lines[number - 1];
  if (text.size() > longest_line) {
    // Do not split a character. The continuation bytes of UTF-8 are 10xxxxxx.
    std::size_t end = longest_line;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
    text = text.substr(0, end);
  }
  return text;
}

std::string_view source_text::line(const std::string& file, std::uint32_t number) {
  const std::string_view text = whole_line(file, number);
  const auto first = text.find_first_not_of(" \t");
  return first == std::string_view::npos ? std::string_view() : text.substr(first);
}

}  // namespace stepwise::emulator
