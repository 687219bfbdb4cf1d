// The text of source lines, read on first use and kept.
//
// watch   The file may have changed since it was compiled, or lie elsewhere; the text is shown as
//         it is found. Not for several threads at once.
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
  // `folders`: where to look for a file that is not where its path says. The file
  // "/build/labs/x/x.cu" is looked for as labs/x/x.cu, x/x.cu and x.cu below each of them.
  explicit source_text(std::vector<std::filesystem::path> folders = {});

  // Line `number` (from 1) of `file`, without leading and trailing spaces, at most `longest_line`
  // bytes. Empty if the file cannot be read or has no such line.
  std::string_view line(const std::string& file, std::uint32_t number);
  // The same with its indentation.
  std::string_view whole_line(const std::string& file, std::uint32_t number);

  // Files beyond this size count as unreadable.
  static constexpr std::uintmax_t largest_file = 16u << 20;
  static constexpr std::size_t longest_line = 200;

 private:
  const std::vector<std::string>& lines_of(const std::string& file);
  std::filesystem::path find(const std::filesystem::path& file) const;

  std::vector<std::filesystem::path> folders_;
  std::map<std::string, std::vector<std::string>> files_;
};

}  // namespace stepwise::emulator
