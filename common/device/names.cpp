#include "common/device/names.hpp"

#include <cxxabi.h>

#include <cctype>
#include <cstdlib>
#include <memory>

namespace stepwise {
namespace {

// "S3_" stands for a part that came before, so a name of 300 characters can mean one of gigabytes.
// CUB's and Thrust's kernels repeat up to 36 parts.
constexpr int most_repeats = 40;
constexpr std::size_t longest_name = 10000;

int repeats_in(std::string_view mangled) {
  int repeats = 0;
  for (std::size_t i = 0; i < mangled.size(); i++) {
    if (mangled[i] != 'S') continue;
    std::size_t end = i + 1;
    while (end < mangled.size() && (std::isdigit(static_cast<unsigned char>(mangled[end])) ||
                                    std::isupper(static_cast<unsigned char>(mangled[end]))))
      end++;
    repeats += end < mangled.size() && mangled[end] == '_';
  }
  return repeats;
}

}  // namespace

std::string readable_name(std::string_view mangled) {
  const std::string name(mangled);
  // "f" alone would read as the type float.
  if (!name.starts_with("_Z") || repeats_in(name) > most_repeats) return name;
  int failed = 0;
  const std::unique_ptr<char, decltype(&std::free)> plain(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &failed), &std::free);
  if (failed || !plain) return name;
  std::string text = plain.get();
  if (text.size() > longest_name) return name;
  // Cut off the parameter list: the parentheses outside template arguments, except those of
  // "(anonymous namespace)" and "operator()". Those before "::" are of the function around.
  constexpr std::string_view anonymous = "(anonymous namespace)", call = "operator()";
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); i++) {
    if (text[i] == '<') depth++;
    if (text[i] == '>') depth--;
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
  // Templates come with their return type, which is void for every kernel.
  if (text.starts_with("void ")) text.erase(0, 5);
  return text;
}

}  // namespace stepwise
