// Tests that the course's glossary refers to handouts, sections, steps and terms that exist, and
// that the handouts refer to its terms.
#include "grader/cli/text/glossary.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>

#include "grader/cli/text/term_line.hpp"
#include "grader/course/lab.hpp"
#include "grader/course/source.hpp"
#include "grader/course/terms.hpp"
#include "grader/system/files.hpp"

namespace {

using namespace stepwise;

fs::path root() { return std::getenv("STEPWISE_SOURCE"); }
fs::path build() { return std::getenv("STEPWISE_BUILD"); }

// The name of a heading in a link: "## Little's law" -> "littles-law".
std::string anchor_of(std::string_view heading) {
  std::string anchor;
  for (const char c : heading) {
    if (c >= 'A' && c <= 'Z')
      anchor += static_cast<char>(c - 'A' + 'a');
    else if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_')
      anchor += c;
    else if (c == ' ')
      anchor += '-';
  }
  return anchor;
}

std::set<std::string> anchors_in(const std::string& text) {
  std::set<std::string> all;
  bool code = false;
  for (const auto& line : split_lines(text)) {
    if (line.starts_with("```")) code = !code;
    if (code || !line.starts_with('#')) continue;
    all.insert(anchor_of(trimmed(line.substr(line.find_first_not_of('#')))));
  }
  return all;
}

std::set<std::string> step_names(const std::string& lab) {
  std::set<std::string> names;
  for (const step& s : load_lab(build(), lab).steps) names.insert(s.name);
  return names;
}

TEST_CASE("glossary: the section, the step and the relations of every term exist") {
  const auto all = load_terms(build());
  CHECK(all.size() > 100);
  std::set<std::string> metrics;
  for (const auto& e : cli::glossary()) metrics.insert(e.name);
  const auto labs = lab_names(build());
  for (const term& t : all) {
    CAPTURE(t.name);
    CHECK(!t.group.empty());
    CHECK(t.text.size() <= 8);
    for (const auto& line : t.picture) CHECK(line.size() <= 76);
    CHECK(!t.taught.empty());
    for (const auto& place : t.taught) {
      CAPTURE(place.target);
      const auto hash = place.target.find('#');
      const auto text = read_if_there(root() / "labs" / place.target.substr(0, hash));
      REQUIRE(text);
      if (hash != std::string::npos)
        CHECK(anchors_in(*text).count(place.target.substr(hash + 1)) == 1);
      const bool is_lab = std::count(labs.begin(), labs.end(), place.lab) > 0;
      const bool is_page = place.target.find('/') == std::string::npos;  // labs/limits.md
      CHECK((is_lab || is_page || place.target.starts_with("../")));
      if (!place.step.empty()) CHECK(step_names(place.lab).count(place.step) == 1);
    }
    CHECK(!t.related.empty());
    for (const auto& name : t.related) {
      CAPTURE(name);
      const term* other = find_term(all, name);
      CHECK(((other != nullptr && other->name == name) || metrics.count(name) == 1));
      CHECK(name != t.name);
    }
  }
}

TEST_CASE("glossary: a metric and a term do not share a name") {
  const auto all = load_terms(build());
  for (const auto& e : cli::glossary()) {
    const term* t = find_term(all, e.name);
    CHECK_MESSAGE(t == nullptr, e.name);
  }
}

TEST_CASE("glossary: it has every term that findings, goals and counters name") {
  const auto all = load_terms(build());
  for (int kind = 0; kind < finding_kinds; ++kind) {
    const char* name = cli::term_of(static_cast<finding_kind>(kind));
    CHECK_MESSAGE(find_term(all, name) != nullptr, name);
  }
  for (const goal_counter& counter : goal_counters())
    CHECK_MESSAGE(find_term(all, cli::term_of(counter)) != nullptr, counter.name);
  kernel_profile busy;
  busy.spill_bytes = 8;
  busy.block = {32, 1, 1};
  busy.total.branches = busy.total.divergent_branches = 1;
  busy.total.instructions[0] = {10, 160};  // half of the lanes are active
  busy.total.global_load.requests = 1;
  busy.total.shared_load = {1, 32, 2, 1};
  const auto names = cli::terms_of({busy});
  CHECK(names.size() == 6);
  for (const auto& name : names) CHECK_MESSAGE(find_term(all, name) != nullptr, name);
  CHECK(cli::explain_text(names) == "./lab explain bank-conflict, spill, divergence");
}

TEST_CASE("glossary: handouts link to terms, and only to existing ones") {
  const std::set<std::string> anchors = anchors_in(*read_if_there(root() / "labs/glossary.md"));
  for (const auto& l : load_labs(build())) {
    const std::string text = *whole_handout(root(), l);
    std::size_t links = 0;
    const std::string start = "](../glossary.md#";
    for (auto at = text.find(start); at != std::string::npos; at = text.find(start, at + 1)) {
      const auto from = at + start.size();
      const std::string anchor = text.substr(from, text.find(')', from) - from);
      CHECK_MESSAGE(anchors.count(anchor) == 1, l.name, ": the glossary has no #", anchor);
      ++links;
    }
    CHECK_MESSAGE(links >= 5, l.name, ": its handout has ", links,
                  " links to terms of the glossary, but 5 are required");
  }
}

TEST_CASE("pages: their links lead to files and headings that exist") {
  std::vector<fs::path> pages;
  for (const auto& entry : fs::directory_iterator(root() / "labs"))
    if (entry.path().extension() == ".md") pages.push_back(entry.path());
  for (const auto& l : load_labs(build()))
    for (const fs::path& page :
         {root() / l.handout(), root() / l.deeper(), root() / "solutions" / l.name / "answers.md"})
      pages.push_back(page);
  for (const fs::path& page : pages) {
    const std::string text = *read_if_there(page);
    for (auto at = text.find("]("); at != std::string::npos; at = text.find("](", at + 1)) {
      const std::string target = text.substr(at + 2, text.find_first_of(") ", at) - at - 2);
      const auto hash = std::min(target.find('#'), target.size());
      if (target.starts_with("http") || target.find('\n') != std::string::npos) continue;
      const fs::path file = hash == 0 ? page : page.parent_path() / target.substr(0, hash);
      CHECK_MESSAGE(fs::exists(file), page.string(), ": no ", target);
      if (fs::exists(file) && hash < target.size() && file.extension() == ".md")
        CHECK_MESSAGE(anchors_in(*read_if_there(file)).count(target.substr(hash + 1)) == 1,
                      page.string(), ": no heading ", target);
    }
  }
}

// A page's prose without headings, code and the overview paragraphs at its top. `spans` has the
// places of links and bold text.
struct prose {
  struct span {
    std::size_t begin = 0, end = 0;
    std::string anchor;  // of the glossary; empty: bold, or a link elsewhere
    bool bold = false;
  };
  std::string text;
  std::vector<span> spans;
};

prose prose_of(const std::string& page) {
  prose p;
  bool code = false, in_code = false, overview = false;
  for (const std::string& line : split_lines(page)) {
    if (line.starts_with("```")) code = !code;
    if (line.empty()) overview = false;
    for (const char* start : {"**Goal.**", "**Afterwards you can**", "**You need**", "**Time:**"})
      overview = overview || line.starts_with(start);
    const bool formula = line.starts_with("    ");
    if (code || overview || formula || line.starts_with("```") || line.starts_with('#')) continue;
    for (std::size_t i = 0; i < line.size(); ++i) {
      const auto close = line[i] == '[' ? line.find("](", i) : std::string::npos;
      if (line[i] == '`') {
        in_code = !in_code;
        p.text += ' ';
      } else if (in_code) {
        continue;
      } else if (close != std::string::npos) {
        const auto end = std::min(line.find(')', close), line.size());
        const std::string target = line.substr(close + 2, end - close - 2);
        const std::string glossary = "../glossary.md#";
        const std::string words = line.substr(i + 1, close - i - 1);
        const bool is_term = target.starts_with(glossary);
        p.spans.push_back({p.text.size(), p.text.size() + words.size(),
                           is_term ? target.substr(glossary.size()) : "", false});
        if (words.find('`') == std::string::npos) p.text += words;
        i = end;
      } else if (line.compare(i, 2, "**") == 0) {
        const auto end = line.find("**", i + 2);
        if (end != std::string::npos)
          p.spans.push_back({p.text.size(), p.text.size() + end - i - 2, "", true});
        // The words themselves are read like all other words.
        ++i;
      } else {
        p.text += line[i];
      }
    }
    p.text += ' ';
  }
  return p;
}

bool is_letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Finds a name as a separate word, singular or plural, with spaces or hyphens. Short names with
// capitals must match exactly.
std::size_t find_word(const std::string& text, std::string name, std::size_t from) {
  const bool exact = name.size() < 5 && std::any_of(name.begin(), name.end(), [](char c) {
                       return std::isupper(static_cast<unsigned char>(c)) != 0;
                     });
  const auto same = [&](char a, char b) {
    if (exact) return a == b;
    const auto plain = [](char c) {
      return c == '-' ? ' ' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    };
    return plain(a) == plain(b);
  };
  for (auto at = text.begin() + static_cast<std::ptrdiff_t>(from);;) {
    at = std::search(at, text.end(), name.begin(), name.end(), same);
    if (at == text.end()) return std::string::npos;
    auto end = at + static_cast<std::ptrdiff_t>(name.size());
    if (end != text.end() && *end == 's') ++end;
    const bool begins = at == text.begin() || !is_letter(*(at - 1));
    if (begins && (end == text.end() || !is_letter(*end)))
      return static_cast<std::size_t>(at - text.begin());
    ++at;
  }
}

// The first place where a page uses a term, and whether the page introduces it there. A link to
// another term does not count as a use.
struct first_use {
  std::size_t at = std::string::npos;
  bool introduced = false;
};
first_use first_use_of(const term& t, const prose& page) {
  std::vector<std::string> names = {t.name};
  // "line" and "cold" are also everyday words.
  for (const auto& alias : t.aliases)
    if (alias.size() > 4 || std::isupper(static_cast<unsigned char>(alias[0])) != 0)
      names.push_back(alias);
  first_use found;
  for (const std::string& name : names) {
    for (auto at = find_word(page.text, name, 0); at < found.at;
         at = find_word(page.text, name, at + 1)) {
      bool elsewhere = false, here = false;
      for (const auto& s : page.spans) {
        if (at < s.begin || at >= s.end) continue;
        const bool is_it = s.bold || s.anchor == anchor_of(t.name);
        here = here || is_it;
        elsewhere = elsewhere || (!is_it && !s.bold);
      }
      if (elsewhere && !here) continue;
      found = {at, here};
      break;
    }
  }
  return found;
}

TEST_CASE("glossary: a core handout introduces a term at its first use in the course") {
  std::vector<std::pair<std::string, prose>> cores;
  for (const auto& l : load_labs(build()))
    cores.emplace_back(l.name, prose_of(*read_if_there(root() / l.handout())));
  std::size_t introduced = 0;
  for (const term& t : load_terms(build())) {
    for (const auto& [lab, page] : cores) {
      const first_use use = first_use_of(t, page);
      if (use.at == std::string::npos) continue;
      const auto from = use.at > 40 ? use.at - 40 : 0;
      CHECK_MESSAGE(use.introduced, lab, " uses \"", t.name,
                    "\" for the first time, but neither links it nor sets it in bold: ...",
                    page.text.substr(from, 90));
      ++introduced;
      break;
    }
  }
  CHECK(introduced > 60);
}

}  // namespace
