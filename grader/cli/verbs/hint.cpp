// lab hint: help in small portions, from the lab's hints.md.
#include <fmt/core.h>

#include <algorithm>
#include <cctype>

#include "grader/cli/context.hpp"
#include "grader/cli/verb.hpp"
#include "grader/course/hints.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"

namespace stepwise::cli {
namespace {

struct hint_options {
  std::string lab, topic;
  int number = 0, part = 1;
};

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

// The number that a word names: the number itself, or a title or its beginning, in any case.
int number_of(const lab& l, const std::vector<hint_topic>& topics, const std::string& word) {
  if (word.empty()) return 0;
  if (word.find_first_not_of("0123456789") == std::string::npos && word.size() < 6)
    return std::stoi(word);
  for (std::size_t i = 0; i < topics.size(); ++i)
    if (lower(topics[i].title).starts_with(lower(word))) return static_cast<int>(i) + 1;
  refuse("the " + l.name + " lab has no hint \"" + word + "\"; `./lab hint " + l.name +
         "` lists its hints");
}

void show_hint(context& c, const hint_part& h) {
  // Markdown is readable as it is, so only paragraphs are wrapped to the width.
  std::string paragraph;
  const auto flush = [&] {
    if (!paragraph.empty()) c.out.paragraph(paragraph, 2);
    paragraph.clear();
  };
  bool code = false;
  for (const auto& line : h.lines) {
    if (line.starts_with("```")) {
      flush();
      code = !code;
    } else if (code || line.starts_with("    ") || line.starts_with("- ") ||
               line.starts_with("|")) {
      flush();
      c.say((code ? "    " : "  ") + line);
    } else if (line.empty()) {
      flush();
      c.say();
    } else {
      paragraph += (paragraph.empty() ? "" : " ") + line;
    }
  }
  flush();
}

std::string text_of(const hint_part& part) {
  std::string all;
  for (const auto& line : part.lines) all += line + "\n";
  return all;
}

json document_of(const lab& l, const std::vector<hint_topic>& topics, const hint_options& o) {
  json document = {{"lab", l.name}, {"hints", json::array()}};
  for (std::size_t i = 0; i < topics.size(); ++i) {
    json entry = {{"number", i + 1}, {"title", topics[i].title}, {"parts", topics[i].parts.size()}};
    if (static_cast<int>(i) + 1 == o.number)
      entry["text"] = text_of(topics[i].parts[static_cast<std::size_t>(o.part) - 1]);
    document["hints"].push_back(entry);
  }
  return document;
}

void show_topics(context& c, const lab& l, const std::vector<hint_topic>& topics) {
  std::size_t widest = 0;
  for (const auto& topic : topics) widest = std::max(widest, topic.title.size());
  c.say(fmt::format("{} hints for {}; each part gives away more than the previous part",
                    topics.size(), l.name));
  for (std::size_t i = 0; i < topics.size(); ++i) {
    const std::size_t parts = topics[i].parts.size();
    c.say(fmt::format("  {:>2}  {:<{}}  {}", i + 1, topics[i].title, widest,
                      parts == 1 ? "1 part" : fmt::format("{} parts", parts)));
  }
  c.say();
  c.say(c.out.paint(tone::dim, "read a hint  ") + "./lab hint " + l.name + " 1");
}

int hint(context& c, const hint_options& given) {
  hint_options o = given;
  const lab l = load_lab(c.where.build, o.lab);
  const auto text = read_if_there(c.where.root / l.hints());
  if (!text) throw failure(exit_code::ours, "there is no " + l.hints().string());
  const auto topics = parse_hints(*text);
  o.number = number_of(l, topics, o.topic);
  const int count = static_cast<int>(topics.size());
  if (o.number < 0 || o.number > count)
    refuse(fmt::format("the {} lab has hints 1 to {}", l.name, count));
  const int parts =
      o.number == 0 ? 1
                    : static_cast<int>(topics[static_cast<std::size_t>(o.number) - 1].parts.size());
  if (o.part < 1 || o.part > parts)
    refuse(fmt::format("hint {} of the {} lab has parts 1 to {}", o.number, l.name, parts));
  if (c.as_json) {
    c.print(document_of(l, topics, o));
    return 0;
  }
  if (o.number == 0) {
    show_topics(c, l, topics);
    return 0;
  }
  const hint_topic& topic = topics[static_cast<std::size_t>(o.number) - 1];
  const hint_part& part = topic.parts[static_cast<std::size_t>(o.part) - 1];
  c.say(c.out.paint(tone::strong, fmt::format("{} of {}: {}", o.number, count, topic.title)) +
        (part.title.empty() ? "" : fmt::format(", {} of {}: {}", o.part, parts, part.title)));
  c.say();
  show_hint(c, part);
  if (o.part < parts) {
    c.say();
    c.say(c.out.paint(tone::dim, "more  ") +
          fmt::format("./lab hint {} {} {}", l.name, o.number, o.part + 1));
  }
  return 0;
}

const verb hint_verb(
    {verb_place::group::learn, 30}, "hint", "get help in small steps",
    "  ./lab hint reduction       list the hints\n"
    "  ./lab hint reduction 1     the first part of the first hint\n"
    "  ./lab hint reduction 1 2   its second part\n"
    "  ./lab hint reduction banks the hint with this title",
    [](arguments& takes, hint_options& o) {
      takes.add("LAB", o.lab, "the lab's name").required();
      takes.add("N", o.topic, "the hint's number, or its title");
      takes.add("PART", o.part, "the part of the hint: 1, 2, ... (1)");
    },
    hint);

}  // namespace
}  // namespace stepwise::cli
