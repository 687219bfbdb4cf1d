// Reads the findings that a program's comments announce, and compares them with those found.
#include "common/emulator/check/tests/programs/due.hpp"

#include <algorithm>
#include <regex>
#include <sstream>
#include <stdexcept>

#include "common/emulator/check/tests/programs/checked_run.hpp"

namespace stepwise::check_tests {
namespace {

bool is_kind(const std::string& word) {
  for (int k = 0; k < finding_kinds; ++k)
    if (word == name_of(static_cast<finding_kind>(k))) return true;
  return false;
}

bool is_verb(const std::string& word) {
  static const std::regex verb("[a-z]+(\\|[a-z]+)*");
  return std::regex_match(word, verb);
}

// The words of one finding, such as "race reads object=x".
void read_words(const std::string& words, int line, due_finding& due) {
  std::istringstream in(words);
  bool has_place = false, names_kind = false;
  for (std::string word; in >> word;) {
    const auto equals = word.find('=');
    if (is_kind(word)) {
      if (!due.kind.empty() && due.kind != word)
        throw std::runtime_error("line " + std::to_string(line) + ": a finding has two kinds");
      due.kind = word;
      names_kind = true;
    } else if (equals != std::string::npos) {
      due.values[word.substr(0, equals)] = word.substr(equals + 1);
    } else if (word == "allocated" || word == "freed" || word == "called" || word == "unfinished") {
      (word == "allocated" ? due.allocated
       : word == "freed"   ? due.freed
       : word == "called"  ? due.called
                           : due.unfinished) = line;
      has_place = true;
    } else if (word == "host") {
      due.parties.push_back({0, "any"});
      has_place = true;
    } else if (is_verb(word)) {
      due.parties.push_back({line, word});
      has_place = true;
    } else {
      throw std::runtime_error("line " + std::to_string(line) + ": unknown word \"" + word + "\"");
    }
  }
  if (names_kind && !has_place) due.parties.push_back({line, "any"});
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

bool has_verb(const std::string& action, const std::string& verbs) {
  std::istringstream in(verbs);
  for (std::string verb; std::getline(in, verb, '|');)
    if (verb == "any" || contains(action, verb)) return true;
  return false;
}

bool in_file(const std::string& path, const std::string& file) {
  return path == file || path.ends_with("/" + file);
}

// Every expected party matches a different found party, and no found party remains.
bool same_parties(const due_finding& due, const finding& found, const std::string& file) {
  if (due.parties.size() != found.parties.size()) return false;
  std::vector<std::size_t> order(due.parties.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  do {
    bool fits = true;
    for (std::size_t i = 0; i < order.size(); ++i) {
      const due_party& wanted = due.parties[order[i]];
      const finding_party& p = found.parties[i];
      fits = fits && p.at.line == wanted.line && (wanted.line == 0 || in_file(p.at.file, file)) &&
             has_verb(p.action, wanted.verbs);
    }
    if (fits) return true;
  } while (std::next_permutation(order.begin(), order.end()));
  return false;
}

bool at_line(const host_place& place, int line, const std::string& file) {
  return line == 0 || (place.line == line && in_file(place.file, file));
}

// A variable's name may include its namespace.
bool is_named(const std::string& found, const std::string& wanted) {
  return found == wanted || found.ends_with("::" + wanted);
}

bool same_values(const due_finding& due, const finding& found) {
  return std::all_of(due.values.begin(), due.values.end(), [&](const auto& pair) {
    const auto& [name, value] = pair;
    std::string words = value;
    std::replace(words.begin(), words.end(), '_', ' ');
    return name == "object"  ? is_named(found.object.name, value)
           : name == "bytes" ? found.object.what != finding_object::kind::none &&
                                   std::to_string(found.object.bytes) == value
           : name == "offset" ? std::to_string(found.object.offset) == value
           : name == "count"  ? std::to_string(found.count) == value
           : name == "says"   ? contains(found.message, words) || contains(found.advice, words)
                              : false;
  });
}

bool is_due(const due_finding& due, const located_finding& found, const std::string& file) {
  return due.kind == name_of(found.what.kind) && same_parties(due, found.what, file) &&
         at_line(found.allocated, due.allocated, file) && at_line(found.freed, due.freed, file) &&
         at_line(found.host, due.called, file) && at_line(found.unfinished, due.unfinished, file) &&
         same_values(due, found.what);
}

std::string in_words(const due_finding& due) {
  std::string text = due.kind;
  for (const auto& p : due.parties) text += ", " + std::to_string(p.line) + " " + p.verbs;
  if (due.allocated != 0) text += ", allocated " + std::to_string(due.allocated);
  if (due.freed != 0) text += ", freed " + std::to_string(due.freed);
  if (due.called != 0) text += ", called " + std::to_string(due.called);
  if (due.unfinished != 0) text += ", unfinished " + std::to_string(due.unfinished);
  for (const auto& [name, value] : due.values) text.append(", ").append(name + "=" + value);
  return text;
}

}  // namespace

std::vector<due_finding> due_findings(const std::string& source_text) {
  static const std::regex comment("^(.*)// finding( \\S+)?: (.*)$");
  std::map<std::string, due_finding> by_label;
  std::istringstream source(source_text);
  int number = 0;
  for (std::string line; std::getline(source, line);) {
    ++number;
    std::smatch match;
    if (!std::regex_match(line, match, comment)) continue;
    const bool alone = match[1].str().find_first_not_of(' ') == std::string::npos;
    std::istringstream parts(match[2].str() + ":" + match[3].str());
    for (std::string part; std::getline(parts, part, ';');) {
      const auto colon = part.find(':');
      if (colon == std::string::npos)
        throw std::runtime_error("line " + std::to_string(number) + ": expected \"; 2: ...\"");
      std::string label = part.substr(0, colon);
      label.erase(std::remove(label.begin(), label.end(), ' '), label.end());
      read_words(part.substr(colon + 1), number + (alone ? 1 : 0), by_label[label]);
    }
  }
  std::vector<due_finding> due;
  for (auto& [label, finding] : by_label) {
    if (finding.kind.empty()) throw std::runtime_error("finding" + label + " has no kind");
    due.push_back(std::move(finding));
  }
  return due;
}

std::vector<std::string> differences(const std::vector<due_finding>& due,
                                     const std::vector<located_finding>& found,
                                     const std::string& file) {
  std::vector<std::string> problems;
  std::vector<bool> wanted(found.size(), false);
  for (const due_finding& d : due) {
    bool there = false;
    for (std::size_t i = 0; i < found.size() && !there; ++i) {
      if (wanted[i] || !is_due(d, found[i], file)) continue;
      there = wanted[i] = true;
    }
    if (!there) problems.push_back("missing: " + in_words(d));
  }
  for (std::size_t i = 0; i < found.size(); ++i)
    if (!wanted[i]) problems.push_back("unexpected: " + in_words(found[i]));
  return problems;
}

}  // namespace stepwise::check_tests
