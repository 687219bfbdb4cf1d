// Moves the facts of a size from its entries to a separate line, and back.
#include "common/formats/json_lines.hpp"

#include <algorithm>
#include <map>

namespace stepwise {
namespace {

constexpr const char* facts_of_sizes[] = {"label",   "bytes", "operations",
                                          "rate_in", "class", "amount"};

json parse_line(std::string_view text, int number) {
  json line;
  try {
    line = parse_json(text);
  } catch (const json_error& error) {
    throw malformed_json("line " + std::to_string(number) + ": " + error.what());
  }
  if (!line.is_object())
    throw malformed_json("line " + std::to_string(number) + ": expected an object");
  return line;
}

}  // namespace

json parse_json_lines(std::string_view text) {
  json record, entries = json::array();
  std::map<std::string, json> facts;  // by size
  int number = 0;
  do {
    const auto end = std::min(text.find('\n'), text.size());
    json line = parse_line(text.substr(0, end), ++number);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (number == 1) {
      record = std::move(line);
    } else if (line.contains("describes")) {
      json& known = facts[json_text(line.at("describes"))];
      line.erase("describes");
      known = std::move(line);
    } else {
      if (line.contains("size"))
        if (const auto known = facts.find(json_text(line.at("size"))); known != facts.end())
          line.update(known->second);
      entries.push_back(std::move(line));
    }
  } while (!text.empty());
  record["entries"] = std::move(entries);
  return record;
}

std::string json_lines_text(const json& record) {
  json head = record, sizes = json::object();
  head.erase("entries");
  std::string entries;
  for (json entry : record.at("entries")) {
    for (const char* const fact : facts_of_sizes) {
      if (!entry.contains("size") || !entry.contains(fact)) continue;
      json& known = sizes[json_text(entry.at("size"))];
      known["describes"] = entry.at("size");
      known[fact] = entry.at(fact);
      entry.erase(fact);
    }
    entries += json_text(entry) + "\n";
  }
  std::string text = json_text(head) + "\n";
  for (const json& known : sizes) text += json_text(known) + "\n";
  return text + entries;
}

}  // namespace stepwise
