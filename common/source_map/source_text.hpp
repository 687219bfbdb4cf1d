// The text of source lines, read on first use and kept.
//
// watch   The file may have changed since it was compiled, or may be somewhere else. The text is
//         returned as it is found. Not thread-safe.
// Tested by tests/.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace stepwise::emulator {

class source_text {
 public:
  // `folders`: the folders to search if a file is not at its path. For "/build/labs/x/x.cu", we
  // search for labs/x/x.cu, x/x.cu and x.cu in each folder.
  explicit source_text(std::vector<std::filesystem::path> folders = {});

  // Line `number` (from 1) of `file`, without leading and trailing spaces, at most `longest_line`
  // bytes. Empty if the file cannot be read or has no such line.
  std::string_view line(const std::string& file, std::uint32_t number);
  // The same line, with its indentation.
  std::string_view whole_line(const std::string& file, std::uint32_t number);

  // Larger files count as unreadable.
  static constexpr std::uintmax_t largest_file = 16u << 20;
  static constexpr std::size_t longest_line = 200;

 private:
  const std::vector<std::string>& lines_of(const std::string& file);
  std::filesystem::path find(const std::filesystem::path& file) const;

  std::vector<std::filesystem::path> folders_;
  std::map<std::string, std::vector<std::string>> files_;
};

}  // namespace stepwise::emulator
