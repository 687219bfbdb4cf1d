// The section .debug_str of a module: the names of inlined functions, as bytes after labels.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

namespace stepwise::ptx {

class debug_strings {
 public:
  debug_strings() = default;
  // `section` is the text between the section's braces. Throws parse_error.
  debug_strings(std::string_view section, std::uint32_t first_line);

  // The string that starts `offset` bytes after a label, up to its NUL; empty if there is none.
  std::string_view at(std::string_view label, std::int64_t offset) const;

 private:
  std::string bytes_;
  std::unordered_map<std::string_view, std::size_t> labels_;
};

}  // namespace stepwise::ptx
