// Demangles kernel names, unless they would expand too much, and encodes file names for PTX.
#include "common/device/names.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <map>
#include <memory>

namespace stepwise {
namespace {

// The marks "S3_" and "T_" refer to earlier parts of a name, which may contain marks themselves, so
// 300 characters can expand to gigabytes. We estimate the expanded length first and reject names
// above this limit. CUB's longest names (histogram kernels) are estimated at 54 million.
constexpr std::size_t most_meant = std::size_t{1} << 26;
constexpr std::size_t longest_mangled = 4096, longest_name = 10000;

// An upper bound of a mangled name's expanded length; above most_meant if the name is too long.
class meaning {
 public:
  explicit meaning(std::string_view mangled) : text_(mangled) {
    // Reject long names, and names with "cvT" (a conversion operator), whose mark refers to a later
    // type.
    if (text_.size() > longest_mangled || text_.find("cvT") != std::string_view::npos) {
      size_ = most_meant + 1;
      return;
    }
    for (std::size_t i = 0; i < text_.size() && size_ <= most_meant;) i = pass(i);
    for (int n = 0; n < packs_ && size_ <= most_meant; ++n) size_ *= text_.size();
  }
  std::size_t size() const { return size_; }

 private:
  std::size_t pass(std::size_t i) {
    const char c = text_[i];
    const std::size_t end = c == 'S' || c == 'T' ? end_of_mark(i) : 0;
    if (end != 0) {
      size_ += c == 'S' ? substitution(text_.substr(i + 1, end - i - 2)) : parameter();
      return end;
    }
    // If a list of template arguments ends here, later parameters refer to another list.
    if (c == 'E') parameter_.reset();
    // A pack expands once per argument.
    packs_ += text_.substr(i).starts_with("Dp") || text_.substr(i).starts_with("sp");
    ++size_;
    return i + 1;
  }

  // The position after a mark like "S3_", or 0 if there is no mark at `i`.
  std::size_t end_of_mark(std::size_t i) const {
    std::size_t end = i + 1;
    while (end < text_.size() && (std::isdigit(static_cast<unsigned char>(text_[end])) ||
                                  std::isupper(static_cast<unsigned char>(text_[end]))))
      ++end;
    return end < text_.size() && text_[end] == '_' ? end + 1 : 0;
  }

  // Parts are numbered in the order of their ends. Therefore a part lies in the text before the
  // first mark with its number or a higher number.
  std::size_t substitution(std::string_view digits) {
    std::size_t number = digits.empty() ? 0 : 1;
    for (const char c : digits) {
      const auto digit = static_cast<std::size_t>(c <= '9' ? c - '0' : c - 'A' + 10);
      number = std::min(number * 36 + digit, longest_mangled * 36);
    }
    const auto known = parts_.lower_bound(number);
    if (known != parts_.end()) return known->second;
    return parts_[number] = size_;
  }

  std::size_t parameter() {
    if (!parameter_) parameter_ = size_;
    return *parameter_;
  }

  std::string_view text_;
  std::size_t size_ = 0;
  std::map<std::size_t, std::size_t> parts_;  // expanded length before the first mark, by number
  std::optional<std::size_t> parameter_;
  int packs_ = 0;
};

}  // namespace

std::optional<std::string> demangled(std::string_view mangled) {
  // "f" alone would read as the type float.
  if (!mangled.starts_with("_Z") || meaning(mangled).size() > most_meant) return {};
  int failed = 0;
  const std::unique_ptr<char, decltype(&std::free)> plain(
      abi::__cxa_demangle(std::string(mangled).c_str(), nullptr, nullptr, &failed), &std::free);
  if (failed != 0 || !plain || std::string_view(plain.get()).size() > longest_name) return {};
  return plain.get();
}

std::string readable_name(std::string_view mangled) {
  std::optional<std::string> name = demangled(mangled);
  if (!name) return std::string(mangled);
  std::string text = *std::move(name);
  // Remove the long tags by which numba marks versions of a function.
  constexpr std::string_view tag = "[abi:";
  for (auto first = text.find(tag); first != text.npos; first = text.find(tag, first)) {
    text.erase(first, std::min(text.find(']', first), text.size() - 1) + 1 - first);
  }
  // Remove parameter lists: parentheses outside template arguments and "{lambda(int)#1}", except
  // those of "(anonymous namespace)" and "operator()". A parameter list before "::" belongs to the
  // enclosing function.
  constexpr std::string_view anonymous = "(anonymous namespace)", call = "operator()";
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); i++) {
    if (text[i] == '<' || text[i] == '{') depth++;
    if (text[i] == '>' || text[i] == '}') depth--;
    if (text[i] != '(' || depth != 0) continue;
    if (text.compare(i, anonymous.size(), anonymous) == 0) {
      i += anonymous.size() - 1;
      continue;
    }
    if (i >= 8 && text.compare(i - 8, call.size(), call) == 0) {
      i++;
      continue;
    }
    std::size_t end = i;
    for (int open = 0; end < text.size(); end++) {
      open += (text[end] == '(') - (text[end] == ')');
      if (open == 0) break;
    }
    if (text.compare(end, 3, ")::") != 0) {
      text.resize(i);
      break;
    }
    text.erase(i, end + 1 - i);
    i--;
  }
  // Names of templates include the return type, which is void for every kernel.
  if (text.starts_with("void ")) text.erase(0, 5);
  return text;
}

namespace {

constexpr std::string_view coded_mark = "/percent-coded/";
constexpr std::string_view hex_digits = "0123456789ABCDEF";

bool needs_code(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < ' ' || byte >= 0x7F || c == '"' || c == '\\' || c == '%';
}

}  // namespace

std::string percent_coded(std::string_view path) {
  std::string name(coded_mark.substr(0, coded_mark.size() - 1));
  for (const char c : path) {
    if (!needs_code(c)) {
      name += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    name += {'%', hex_digits[byte >> 4], hex_digits[byte & 15]};
  }
  return name;
}

std::string decoded_path(std::string_view name) {
  if (!name.starts_with(coded_mark)) return std::string(name);
  std::string path;
  for (std::size_t at = coded_mark.size() - 1; at < name.size(); ++at) {
    unsigned byte = 0;
    const char* const code = name.data() + at + 1;
    if (name[at] == '%' && at + 2 < name.size() &&
        std::from_chars(code, code + 2, byte, 16).ptr == code + 2) {
      path += static_cast<char>(byte);
      at += 2;
    } else {
      path += name[at];
    }
  }
  return path;
}

}  // namespace stepwise
