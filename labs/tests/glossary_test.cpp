// The course's glossary refers to handouts, sections, steps and terms that exist, and the handouts
// refer to terms of it.
#include "grader/cli/text/glossary.hpp"

#include <doctest/doctest.h>

#include <algorithm>
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

// "## Little's law" -> "littles-law": how a link names a heading.
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
  for (const step& s : load_lab(root(), lab).steps) names.insert(s.name);
  return names;
}

TEST_CASE("glossary: every term has a handout's section and step, and relations, that exist") {
  const auto all = load_terms(root());
  CHECK(all.size() > 100);
  std::set<std::string> metrics;
  for (const auto& e : cli::glossary()) metrics.insert(e.name);
  const auto labs = lab_names(root());
  for (const term& t : all) {
    CAPTURE(t.name);
    CHECK(!t.group.empty());
    CHECK(t.text.size() <= 8);
    for (const auto& line : t.picture) CHECK(line.size() <= 76);
    for (const auto& place : t.taught) {
      CAPTURE(place.target);
      const auto hash = place.target.find('#');
      const auto text = read_if_there(root() / "labs" / place.target.substr(0, hash));
      REQUIRE(text);
      if (hash != std::string::npos)
        CHECK(anchors_in(*text).count(place.target.substr(hash + 1)) == 1);
      const bool is_lab = std::count(labs.begin(), labs.end(), place.lab) > 0;
      CHECK((is_lab || place.target.starts_with("../")));
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
  const auto all = load_terms(root());
  for (const auto& e : cli::glossary()) {
    const term* t = find_term(all, e.name);
    CHECK_MESSAGE(t == nullptr, e.name);
  }
}

TEST_CASE("glossary: what findings, goals and counters name is in it") {
  const auto all = load_terms(root());
  for (int kind = 0; kind < finding_kinds; ++kind) {
    const char* name = cli::term_of(static_cast<finding_kind>(kind));
    CHECK_MESSAGE(find_term(all, name) != nullptr, name);
  }
  for (const goal_counter& counter : goal_counters())
    CHECK_MESSAGE(find_term(all, cli::term_of(counter)) != nullptr, counter.name);
  kernel_profile busy;
  busy.spill_bytes = 8;
  busy.total.divergent_branches = 1;
  busy.total.global_load.requests = 1;
  busy.total.shared_load = {1, 32, 2, 1};
  const auto names = cli::terms_of({busy});
  CHECK(names.size() == 6);
  for (const auto& name : names) CHECK_MESSAGE(find_term(all, name) != nullptr, name);
  CHECK(cli::explain_text(names) == "./lab explain bank-conflict, spill, divergence");
}

TEST_CASE("glossary: handouts link terms, and only those that it has") {
  const std::set<std::string> anchors = anchors_in(*read_if_there(root() / "labs/glossary.md"));
  for (const auto& lab : lab_names(root())) {
    const std::string text = *read_if_there(root() / "labs" / lab / "README.md");
    std::size_t links = 0;
    const std::string start = "](../glossary.md#";
    for (auto at = text.find(start); at != std::string::npos; at = text.find(start, at + 1)) {
      const auto from = at + start.size();
      const std::string anchor = text.substr(from, text.find(')', from) - from);
      CHECK_MESSAGE(anchors.count(anchor) == 1, lab, ": the glossary has no #", anchor);
      ++links;
    }
    CHECK_MESSAGE(links >= 5, lab, ": its handout links ", links, " terms of the glossary");
  }
}

}  // namespace
