// Compares names by their letters and digits.
#include "grader/course/terms.hpp"

#include <algorithm>
#include <utility>

#include "grader/course/lab.hpp"

namespace stepwise {
namespace {

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Distance of `key` from a name, or from one of its words, which adds one.
std::size_t distance_to(const std::string& key, const std::string& name) {
  std::size_t least = edit_distance(key, term_key(name));
  for (std::size_t begin = 0; begin < name.size();) {
    const auto end = std::min(name.find(' ', begin), name.size());
    if (const std::string word = term_key(name.substr(begin, end - begin)); word.size() > 3)
      least = std::min(least, 1 + edit_distance(key, word));
    begin = end + 1;
  }
  return least;
}

}  // namespace

std::string term_key(std::string_view name) {
  std::string key;
  for (const char c : name)
    if (is_word(c)) key += lower(c);
  if (key.size() > 4 && key.ends_with("ies")) return key.substr(0, key.size() - 3) + "y";
  if (key.size() > 2 && key.ends_with('s') && !key.ends_with("ss")) key.pop_back();
  return key;
}

std::string typed_name(std::string_view name) {
  std::string typed;
  for (const char c : name) {
    const bool dash = c == ' ' || c == '-';
    if (is_word(c) || c == '_')
      typed += lower(c);
    else if (dash && !typed.empty() && typed.back() != '-')
      typed += '-';
  }
  return typed;
}

const term* find_term(const std::vector<term>& all, std::string_view name) {
  const std::string key = term_key(name);
  for (const term& t : all)
    if (term_key(t.name) == key) return &t;
  for (const term& t : all)
    for (const auto& alias : t.aliases)
      if (term_key(alias) == key) return &t;
  return nullptr;
}

std::vector<std::string> near_names(std::string_view given, const std::vector<std::string>& names,
                                    std::size_t most) {
  const std::string key = term_key(given);
  std::vector<std::pair<std::size_t, std::string>> near;
  for (const auto& name : names) {
    const std::string other = term_key(name);
    const std::size_t distance = distance_to(key, name);
    const bool within = key.size() > 3 && other.find(key) != std::string::npos;
    if (distance <= std::max<std::size_t>(1, key.size() / 3) || within)
      near.emplace_back(within ? std::min<std::size_t>(distance, 2) : distance, name);
  }
  std::stable_sort(near.begin(), near.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> found;
  for (const auto& [distance, name] : near)
    if (found.size() < most && distance <= near[0].first + 1 &&
        std::find(found.begin(), found.end(), name) == found.end())
      found.push_back(name);
  return found;
}

}  // namespace stepwise
