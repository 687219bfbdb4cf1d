// Reads the glossary's headings and lines, and compares names by their letters and digits.
#include "grader/course/terms.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "grader/course/lab.hpp"
#include "grader/course/source.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"

namespace stepwise {
namespace {

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

struct link {
  std::string words, target, code;  // code: `...` after it, before the next link
};

// [words](target) and the `code` that follows each.
std::vector<link> links_of(std::string_view text) {
  std::vector<link> all;
  for (std::size_t at = text.find('['); at != std::string_view::npos; at = text.find('[', at + 1)) {
    const auto middle = text.find("](", at), end = text.find(')', at);
    if (middle == std::string_view::npos || end == std::string_view::npos) break;
    link found{std::string(text.substr(at + 1, middle - at - 1)),
               std::string(text.substr(middle + 2, end - middle - 2)), ""};
    const auto next = std::min(text.find('[', end), text.size());
    const std::string_view behind = text.substr(end, next - end);
    if (const auto open = behind.find('`'); open != std::string_view::npos)
      found.code = behind.substr(open + 1, behind.find('`', open + 1) - open - 1);
    all.push_back(std::move(found));
  }
  return all;
}

// "a, b, c." -> a, b, c
std::vector<std::string> listed(std::string_view text) {
  std::vector<std::string> all;
  if (text.ends_with('.')) text.remove_suffix(1);
  while (!text.empty()) {
    const auto comma = std::min(text.find(", "), text.size());
    all.emplace_back(trimmed(text.substr(0, comma)));
    text.remove_prefix(std::min(comma + 2, text.size()));
  }
  return all;
}

// The lines of one term, from its heading to the next one's.
class term_reader {
 public:
  explicit term_reader(term& to) : to_(to) {}

  void read(const std::string& line) {
    if (line.starts_with("```")) {
      code_ = !code_;
    } else if (code_) {
      to_.picture.push_back(line);
    } else if (line.empty()) {
      add_text(line);
      field_.clear();
    } else if (!begins_field(line)) {
      if (field_.empty())
        add_text(line);
      else
        values_[field_] += " " + line;
    }
  }
  void finish() {
    while (!to_.text.empty() && to_.text.back().empty()) to_.text.pop_back();
    to_.aliases = listed(values_["Also called"]);
    for (const link& l : links_of(values_["Taught in"]))
      to_.taught.push_back({l.words, l.target, l.code});
    for (const link& l : links_of(values_["See also"])) to_.related.push_back(l.words);
  }

 private:
  void add_text(const std::string& line) {
    if (!to_.text.empty() || !line.empty()) to_.text.push_back(line);
  }
  bool begins_field(const std::string& line) {
    for (const char* name : {"Also called", "Taught in", "See also"}) {
      const std::string start = std::string(name) + ": ";
      if (!line.starts_with(start)) continue;
      field_ = name;
      values_[field_] = line.substr(start.size());
      return true;
    }
    return false;
  }

  term& to_;
  bool code_ = false;
  std::string field_;
  std::map<std::string, std::string> values_;
};

// How far `key` is from a name, or from one of its words, which counts as one letter more.
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

std::vector<term> parse_terms(std::string_view text, const std::string& origin) {
  std::vector<term> all;
  std::map<std::string, std::string> owner;  // of a key
  std::string group;
  std::size_t number = 0, begin = 0;
  bool code = false;
  const auto wrong = [&](std::size_t line, const std::string& what) {
    throw failure(exit_code::ours, origin + ":" + std::to_string(line) + ": " + what);
  };
  std::vector<std::string> lines = split_lines(text);
  lines.emplace_back("### ");  // ends the last term
  std::vector<std::string> own;
  const auto close = [&] {
    if (all.empty() || begin == 0) return;
    term& t = all.back();
    term_reader reader(t);
    for (const auto& line : own) reader.read(line);
    reader.finish();
    if (t.text.empty()) wrong(begin, "\"" + t.name + "\" has no text");
    if (t.taught.empty()) wrong(begin, "\"" + t.name + "\" lacks a line \"Taught in: ...\"");
    std::vector<std::string> names = t.aliases;
    names.push_back(t.name);
    for (const auto& name : names) {
      const auto [at, is_new] = owner.emplace(term_key(name), t.name);
      if (!is_new && at->second != t.name)
        wrong(begin, "\"" + name + "\" names \"" + at->second + "\" as well as this term");
    }
    begin = 0;
  };
  for (const auto& line : lines) {
    ++number;
    if (line.starts_with("```")) code = !code;
    const bool is_term = !code && line.starts_with("### ");
    const bool is_group = !code && line.starts_with("## ");
    if (!is_term && !is_group) {
      own.push_back(line);
      continue;
    }
    close();
    own.clear();
    if (is_group) group = trimmed(line.substr(3));
    if (is_term && number < lines.size()) {
      all.push_back({std::string(trimmed(line.substr(4))), group, {}, {}, {}, {}, {}});
      begin = number;
    }
  }
  return all;
}

std::vector<term> load_terms(const std::filesystem::path& root) {
  const std::filesystem::path file = "labs/glossary.md";
  return parse_terms(read_file(root / file, static_cast<int>(exit_code::ours)), file);
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
