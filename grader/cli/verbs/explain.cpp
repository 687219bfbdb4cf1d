// lab explain: explains a term of the course or a profiler metric, from the glossaries.
#include <fmt/core.h>

#include <algorithm>

#include "grader/cli/context.hpp"
#include "grader/cli/text/glossary.hpp"
#include "grader/cli/text/page.hpp"
#include "grader/cli/verb.hpp"
#include "grader/course/source.hpp"
#include "grader/course/terms.hpp"
#include "grader/report/text.hpp"

namespace stepwise::cli {
namespace {

struct explain_options {
  std::vector<std::string> words;
};

constexpr const char* metrics_group = "Metrics of profilers";

// Finds a metric by the name that lectures use, or by its nvprof or ncu name.
const glossary_entry* find_metric(std::string_view name) {
  const std::string key = term_key(name);
  for (const glossary_entry& e : glossary())
    if (term_key(e.name) == key) return &e;
  for (const glossary_entry& e : glossary())
    for (std::string names : {e.older, e.ncu}) {
      for (std::size_t comma = 0; comma != std::string::npos && !names.empty();) {
        comma = names.find(", ");
        if (term_key(names.substr(0, comma)) == key) return &e;
        names = comma == std::string::npos ? "" : names.substr(comma + 2);
      }
    }
  return nullptr;
}

json term_json(const term& t) {
  json taught = json::array();
  for (const auto& p : t.taught)
    taught.push_back({{"where", p.lab},
                      {"text", fs::path("labs/" + p.target).lexically_normal().string()},
                      {"step", p.step.empty() ? json(nullptr) : json(p.step)}});
  return {{"name", t.name},
          {"group", t.group},
          {"also_called", t.aliases},
          {"text", joined(t.text, "\n")},
          {"picture", joined(t.picture, "\n")},
          {"taught", taught},
          {"related", t.related}};
}

json metric_json(const glossary_entry& e) {
  return {{"name", e.name},
          {"group", metrics_group},
          {"also_called", json::array()},
          {"text", e.formula},
          {"picture", ""},
          {"taught", json::array()},
          {"older", e.older},
          {"ncu", e.ncu.empty() ? json(nullptr) : json(e.ncu)},
          {"profile", e.ours},
          {"related", json::array()}};
}

// Removes Markdown's code marks, which a terminal does not need.
std::string plain_text(std::string text) {
  std::erase(text, '`');
  return text;
}

void show_term(context& c, const term& t) {
  page p(c.out.style());
  p.title(t.name);
  std::string paragraph;
  for (const auto& line : t.text) {
    if (!line.empty()) {
      paragraph += (paragraph.empty() ? "" : " ") + line;
      continue;
    }
    p.paragraph(plain_text(paragraph));
    p.line();
    paragraph.clear();
  }
  p.paragraph(plain_text(paragraph));
  p.line();
  for (const auto& line : t.picture) p.line(line.empty() ? "" : "    " + line);
  if (!t.picture.empty()) p.line();
  if (!t.aliases.empty()) p.labelled("also     ", joined(t.aliases, ", "), tone::dim);
  bool is_first = true;
  for (const auto& place : t.taught) {
    const std::string where = fs::path("labs/" + place.target).lexically_normal();
    p.labelled(is_first ? "taught   " : "         ",
               where + (place.step.empty() ? "" : ", step " + place.step));
    is_first = false;
  }
  std::vector<std::string> typed;
  for (const auto& name : t.related) typed.push_back(typed_name(name));
  if (!typed.empty()) p.labelled("related  ", joined(typed, ", "));
  for (const auto& line : p.take()) c.say(line);
}

void show_metric(context& c, const glossary_entry& e) {
  page p(c.out.style());
  p.title(e.name);
  p.labelled("is       ", e.formula);
  p.labelled("here     ", e.ours);
  p.labelled("older    ", e.older, tone::dim);
  p.labelled("ncu      ", e.ncu.empty() ? "none" : e.ncu, tone::dim);
  for (const auto& line : p.take()) c.say(line);
}

// Names in columns, sorted from top to bottom, in the width of the terminal.
void show_columns(context& c, std::vector<std::string> names) {
  std::sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
    return std::pair(term_key(a), a) < std::pair(term_key(b), b);
  });
  std::size_t widest = 0;
  for (const auto& name : names) widest = std::max(widest, name.size());
  const std::size_t room = static_cast<std::size_t>(c.out.style().width) - 2;
  const std::size_t columns = std::max<std::size_t>(1, (room + 2) / (widest + 2));
  const std::size_t rows = (names.size() + columns - 1) / columns;
  for (std::size_t row = 0; row < rows; ++row) {
    std::string line = "  ";
    for (std::size_t at = row; at < names.size(); at += rows)
      line += names[at] +
              (at + rows < names.size() ? std::string(widest + 2 - names[at].size(), ' ') : "");
    c.say(line);
  }
}

void show_list(context& c, const std::vector<term>& all) {
  std::vector<std::string> groups;
  for (const term& t : all)
    if (groups.empty() || groups.back() != t.group) groups.push_back(t.group);
  for (const auto& group : groups) {
    c.say(c.out.paint(tone::strong, group));
    std::vector<std::string> names;
    for (const term& t : all)
      if (t.group == group) names.push_back(typed_name(t.name));
    show_columns(c, names);
    c.say();
  }
  c.say(c.out.paint(tone::strong, metrics_group));
  std::vector<std::string> names;
  for (const glossary_entry& e : glossary()) names.push_back(typed_name(e.name));
  show_columns(c, names);
  c.say();
  c.say(c.out.paint(tone::dim, "explain a term  ") + "./lab explain warp");
}

[[noreturn]] void refuse_term(const std::string& given, const std::vector<term>& all) {
  std::vector<std::string> names, near;
  for (const term& t : all) names.push_back(t.name);
  for (const glossary_entry& e : glossary()) names.emplace_back(e.name);
  for (const term& t : all) names.insert(names.end(), t.aliases.begin(), t.aliases.end());
  for (const auto& name : near_names(given, names)) {
    const term* t = find_term(all, name);
    near.push_back(typed_name(t != nullptr ? t->name : name));
  }
  std::string sentence = "the glossary has no \"" + given + "\"";
  for (std::size_t i = 0; i < near.size(); ++i) {
    if (std::find(near.begin(), near.begin() + static_cast<std::ptrdiff_t>(i), near[i]) ==
        near.begin() + static_cast<std::ptrdiff_t>(i))
      sentence += (i == 0 ? "; did you mean\n  ./lab explain " : "\n  ./lab explain ") + near[i];
  }
  refuse(sentence + "\n`./lab explain` lists all terms");
}

// "race, barrier" -> race, barrier
std::vector<std::string> names_in(const std::string& words) {
  std::vector<std::string> names;
  for (std::size_t begin = 0; begin <= words.size();) {
    const auto end = std::min(words.find(',', begin), words.size());
    const std::string name(trimmed(std::string_view(words).substr(begin, end - begin)));
    if (!name.empty()) names.push_back(name);
    begin = end + 1;
  }
  return names;
}

int explain(context& c, const explain_options& o) {
  const auto all = load_terms(c.where.build);
  if (o.words.empty()) {
    json document = {{"terms", json::array()}};
    for (const term& t : all) document["terms"].push_back(term_json(t));
    for (const glossary_entry& e : glossary()) document["terms"].push_back(metric_json(e));
    if (c.as_json)
      c.print(document);
    else
      show_list(c, all);
    return 0;
  }
  json document = {{"terms", json::array()}};
  bool is_first = true;
  for (const auto& name : names_in(joined(o.words, " "))) {
    const term* t = find_term(all, name);
    const glossary_entry* metric = t == nullptr ? find_metric(name) : nullptr;
    if (t == nullptr && metric == nullptr) refuse_term(name, all);
    document["terms"].push_back(t != nullptr ? term_json(*t) : metric_json(*metric));
    if (!is_first) c.say();
    is_first = false;
    if (c.as_json) continue;
    if (t != nullptr)
      show_term(c, *t);
    else
      show_metric(c, *metric);
  }
  if (c.as_json) c.print(document);
  return 0;
}

const verb explain_verb(
    {verb_place::group::learn, 40}, "explain", "look up a term or a profiler metric",
    "  ./lab explain                 all terms\n"
    "  ./lab explain bank-conflict   its meaning, an example, where it is taught\n"
    "  ./lab explain warp, lane      several terms\n"
    "  ./lab explain gld_efficiency  a metric, by any profiler's name",
    [](arguments& takes, explain_options& o) {
      takes.add("TERM", o.words, "a term; upper case, plurals and hyphens do not matter");
    },
    explain);

}  // namespace
}  // namespace stepwise::cli
