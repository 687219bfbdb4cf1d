// Reads labels and .b8 lists into one string of bytes, and looks up what follows a label.
#include "common/ptx/debug_strings.hpp"

#include "common/ptx/reader.hpp"

namespace stepwise::ptx {

debug_strings::debug_strings(std::string_view section, std::uint32_t first_line) {
  bytes_.reserve(section.size() / 3);
  for (reader in(section, first_line); !in.at_end();) {
    if (in.current().kind == token_kind::word) {
      labels_[in.current().text] = bytes_.size();
      in.advance();
      in.expect(':', "after a label of .debug_str");
      continue;
    }
    if (!in.accept_directive(".b8")) in.fail("a label or '.b8'");
    do {
      bytes_ += static_cast<char>(in.expect_small("a byte", 255));
    } while (in.accept(','));
  }
}

std::string_view debug_strings::at(std::string_view label, std::int64_t offset) const {
  const auto found = labels_.find(label);
  if (found == labels_.end() || offset < 0) return {};
  const std::size_t first = found->second + static_cast<std::uint64_t>(offset);
  if (first >= bytes_.size()) return {};
  const std::string_view rest = std::string_view(bytes_).substr(first);
  return rest.substr(0, rest.find('\0'));
}

}  // namespace stepwise::ptx
