// Writes and reads the JSON, decides which findings have the same cause, and merges them.
#include "common/report/located_finding.hpp"

#include <algorithm>
#include <array>
#include <fstream>

#include "common/formats/json.hpp"
#include "common/report/extent_json.hpp"

namespace stepwise {
namespace {

constexpr std::array<const char*, 7> object_names = {
    "none",           "allocation",   "variable", "shared_variable",
    "dynamic_shared", "local_memory", "constant"};

constexpr std::array<const char*, 9> race_names = {
    "none", "lanes", "warps", "one_store", "block_store", "copy", "blocks", "streams", "host"};

json place_json(const host_place& place) {
  if (!place.known()) return nullptr;
  return {{"file", place.file},
          {"line", place.line},
          {"text", place.text},
          {"function", place.function}};
}

json party_json(const finding_party& p) {
  return {{"action", p.action},
          {"kernel", p.kernel},
          {"file", p.at.file},
          {"line", p.at.line},
          {"text", p.at.text},
          {"inner", p.at.inner},
          {"block", p.has_thread ? extent_json(p.block) : json(nullptr)},
          {"thread", p.has_thread ? extent_json(p.thread) : json(nullptr)}};
}

json object_json(const located_finding& found) {
  const finding_object& o = found.what.object;
  if (o.what == finding_object::kind::none) return nullptr;
  return {{"kind", object_names[static_cast<std::size_t>(o.what)]},
          {"name", o.name},
          {"bytes", o.bytes},
          {"offset", o.offset},
          {"element_bytes", o.element_bytes},
          {"allocated", place_json(found.allocated)},
          {"freed", place_json(found.freed)}};
}

host_place parse_place(const json& j) {
  if (j.is_null()) return {};
  return {j.at("file"), j.at("line"), j.at("text"), j.at("function")};
}

finding_party parse_party(const json& j) {
  finding_party p;
  p.action = j.at("action");
  p.kernel = j.at("kernel");
  p.at = {j.at("file"), j.at("line"), j.at("text"), j.at("inner")};
  p.has_thread = !j.at("thread").is_null();
  if (p.has_thread) {
    p.block = extent_from(j.at("block"));
    p.thread = extent_from(j.at("thread"));
  }
  return p;
}

void parse_object(const json& j, located_finding& found) {
  if (j.is_null()) return;
  finding_object& o = found.what.object;
  const auto name = std::find(object_names.begin(), object_names.end(), j.at("kind"));
  if (name != object_names.end()) {
    o.what = static_cast<finding_object::kind>(name - object_names.begin());
  }
  o.name = j.at("name");
  o.bytes = j.at("bytes");
  o.offset = j.at("offset");
  o.element_bytes = j.at("element_bytes");
  found.allocated = parse_place(j.at("allocated"));
  found.freed = parse_place(j.at("freed"));
}

race_between parse_between(const std::string& name) {
  const auto known = std::find(race_names.begin(), race_names.end(), name);
  return known == race_names.end() ? race_between::none
                                   : static_cast<race_between>(known - race_names.begin());
}

std::optional<finding_kind> parse_kind(const std::string& name) {
  for (int i = 0; i < finding_kinds; i++) {
    const auto kind = static_cast<finding_kind>(i);
    if (name == name_of(kind)) return kind;
  }
  return std::nullopt;
}

}  // namespace

std::string json_line(const located_finding& found) {
  json parties = json::array();
  for (const finding_party& p : found.what.parties) parties.push_back(party_json(p));
  const json line = {{"kind", name_of(found.what.kind)},
                     {"warning", is_warning(found.what.kind)},
                     {"message", found.what.message},
                     {"parties", parties},
                     {"object", object_json(found)},
                     {"host", place_json(found.host)},
                     {"unfinished", place_json(found.unfinished)},
                     {"advice", found.what.advice},
                     {"count", found.what.count},
                     {"between", race_names[static_cast<std::size_t>(found.what.between)]}};
  // Source lines and names may be invalid UTF-8, which json_text() replaces.
  return json_text(line);
}

std::optional<located_finding> parse_json_line(std::string_view line) {
  const json j = parse_json_or_null(line);
  if (!j.is_object()) return std::nullopt;
  try {
    located_finding found;
    const auto kind = parse_kind(j.at("kind"));
    if (!kind) return std::nullopt;
    found.what.kind = *kind;
    found.what.message = j.at("message");
    for (const json& p : j.at("parties")) found.what.parties.push_back(parse_party(p));
    parse_object(j.at("object"), found);
    found.host = parse_place(j.at("host"));
    if (j.contains("unfinished")) found.unfinished = parse_place(j.at("unfinished"));
    found.what.advice = j.at("advice");
    found.what.count = j.at("count");
    found.what.between = parse_between(j.at("between"));
    return found;
  } catch (const json_error&) {
    return std::nullopt;
  }
}

std::string identity_of(const located_finding& found) {
  const finding& f = found.what;
  std::string text = name_of(f.kind);
  const auto add = [&](const std::string& part) { text += '\n' + part; };
  const bool is_race = f.kind == finding_kind::race;
  bool has_place = false;
  std::vector<std::string> parties;
  for (const finding_party& p : f.parties) {
    const bool known = !p.at.file.empty();
    // Races between the same two lines are one finding, in either order and for any action. Inlined
    // versions of a helper make no difference, either.
    const bool line_is_enough = is_race && known;
    parties.push_back(p.kernel + '\n' + (line_is_enough ? "" : p.action) + '\n' + p.at.file + ':' +
                      std::to_string(p.at.line) + (line_is_enough ? "" : p.at.inner));
    has_place |= known;
  }
  if (is_race) std::sort(parties.begin(), parties.end());
  for (const std::string& party : parties) add(party);
  const std::string host =
      found.host.file + ':' + std::to_string(found.host.line) + found.host.function;
  if (f.kind == finding_kind::too_little_shared || f.between == race_between::host) add(host);
  if (f.between == race_between::host) {
    add(found.unfinished.file + ':' + std::to_string(found.unfinished.line) +
        found.unfinished.function);
  }
  // Use messages only if there is no place, because messages may contain addresses and indices,
  // which differ between occurrences.
  if (!has_place) {
    add(f.message);
    add(host);
  }
  add(std::to_string(static_cast<int>(f.object.what)) + f.object.name);
  add(found.allocated.file + ':' + std::to_string(found.allocated.line));
  if (f.kind == finding_kind::leak) add(std::to_string(f.object.bytes));
  return text;
}

merged merge_into(std::vector<located_finding>& all, located_finding found) {
  const std::string identity = identity_of(found);
  for (std::size_t i = 0; i < all.size(); i++) {
    if (identity_of(all[i]) != identity) continue;
    const std::uint64_t count = all[i].what.count + found.what.count;
    const bool decides = found.what.between > all[i].what.between;
    if (decides) all[i] = std::move(found);
    all[i].what.count = count;
    return {i, decides ? merged::as::decisive : merged::as::repeated};
  }
  all.push_back(std::move(found));
  return {all.size() - 1, merged::as::fresh};
}

std::string source_line(const std::string& file, int number) {
  std::ifstream in(file);
  std::string line;
  for (int i = 0; i < number; i++) {
    if (!std::getline(in, line)) return {};
  }
  const auto first = line.find_first_not_of(" \t\r");
  if (number <= 0 || first == std::string::npos) return {};
  return line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
}

}  // namespace stepwise
