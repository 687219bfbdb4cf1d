// Matches patterns, parses several formats of times, and makes file names from ids.
#include "grader/batch/names.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>
#include <map>

#include "grader/judge/key.hpp"
#include "grader/report/text.hpp"
#include "grader/system/failure.hpp"

namespace stepwise::batch {
namespace {

constexpr std::size_t longest_path = 400, longest_name = 100;
constexpr std::ptrdiff_t most_places = 6;  // enough for all platforms

struct platform {
  const char* name;
  std::vector<const char*> patterns;
};

// The platforms in the order in which they are tried: the most demanding patterns come first.
const std::vector<platform>& platforms() {
  static const std::vector<platform> all = {
      {"moodle",
       {"{name}_{number}_assignsubmission_file_/{file}",
        "{name}_{number}_assignsubmission_file_{file}",
        "{name}_{number}_assignsubmission_onlinetext_{file}"}},
      {"gradescope", {"submission_{number}/{file}"}},
      {"nbgrader", {"{id}_attempt_{time}_{file}", "submitted/{id}/{any}/{file}"}},
      {"canvas", {"{id}_{late}{number}_{number}_{file}"}},
      {"plain", {}}};
  return all;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The characters of a placeholder, and whether it takes as few or as many of them as possible.
// `known_places` lists the placeholders that a pattern may use.
struct place {
  std::string_view name;
  bool (*first)(char);  // whether it can begin with this character
  bool (*next)(char);
  bool may_be_empty, greedy;
};
bool no_slash(char c) { return c != '/'; }
bool any_character(char) { return true; }
bool in_time(char c) {
  return is_digit(c) || std::string_view("T:Z+. -").find(c) != std::string_view::npos;
}
constexpr std::array<place, 7> known_places = {{{"id", no_slash, no_slash, false, false},
                                                {"name", no_slash, no_slash, false, false},
                                                {"file", any_character, any_character, false, true},
                                                {"time", is_digit, in_time, false, true},
                                                {"late", nullptr, nullptr, true, true},
                                                {"number", is_digit, is_digit, false, true},
                                                {"any", no_slash, no_slash, true, false}}};
constexpr std::string_view late_mark = "LATE_";  // the only text that {late} matches

const place* find_place(std::string_view name) {
  const auto found = std::find_if(known_places.begin(), known_places.end(),
                                  [&](const place& p) { return p.name == name; });
  return found == known_places.end() ? nullptr : &*found;
}

std::string_view without_ending(std::string_view file) {
  for (const std::string_view ending : {".tar.gz", ".tgz", ".tar", ".zip", ".cu"})
    if (file.size() > ending.size() && file.ends_with(ending))
      return file.substr(0, file.size() - ending.size());
  return {};
}

// ID/FILE, ID.cu, ID.zip, and LAB-ID.tar.gz as `lab pack` makes it.
std::optional<owner> plain_owner(std::string_view path) {
  owner o;
  o.file = path;
  if (const auto slash = path.find('/'); slash != std::string_view::npos) {
    o.id = path.substr(0, slash);
    o.file = path.substr(slash + 1);
  } else {
    o.id = without_ending(path);
  }
  if (o.id.empty() || o.file.empty()) return std::nullopt;
  return o;
}

bool read_number(std::string_view& text, std::size_t digits, int& to) {
  if (text.size() < digits) return false;
  to = 0;
  for (std::size_t i = 0; i < digits; ++i) {
    if (text[i] < '0' || text[i] > '9') return false;
    to = 10 * to + (text[i] - '0');
  }
  text.remove_prefix(digits);
  return true;
}

bool skip(std::string_view& text, std::string_view one_of) {
  if (text.empty() || one_of.find(text[0]) == std::string_view::npos) return false;
  text.remove_prefix(1);
  return true;
}

// The folder that contains all paths, with its slash. "" if there is none.
std::string_view shared_folder(const std::vector<std::string>& paths) {
  if (paths.empty()) return {};
  std::string_view shared = std::string_view(paths[0]).substr(0, paths[0].rfind('/') + 1);
  for (const auto& path : paths) {
    while (!path.starts_with(shared))
      shared = shared.substr(0, shared.rfind('/', shared.size() - 2) + 1);
  }
  return shared;
}

}  // namespace

// Tries one form at one position of a path. A placeholder first takes as few or as many characters
// as it can. A part that failed at a character is not tried again at that character.
class form_match {
 public:
  form_match(const name_pattern::form& parts, std::string_view path)
      : parts_(parts),
        path_(path),
        failed_(2 * (parts.size() + 1) * (path.size() + 1)),
        begins_(parts.size() + 1) {}

  bool at(std::size_t begin) { return part_at(0, begin); }
  std::string_view text(std::size_t part) const {
    return path_.substr(begins_[part], begins_[part + 1] - begins_[part]);
  }

 private:
  // Matches the parts from `part` on with the rest of the path.
  bool part_at(std::size_t part, std::size_t at) {
    if (part == parts_.size()) {
      begins_[part] = at;
      return at == path_.size();
    }
    if (!is_new(part, false, at)) return false;
    begins_[part] = at;
    const auto& [what, text] = parts_[part];
    if (what == name_pattern::part::kind::text)
      return path_.substr(at).starts_with(text) && part_at(part + 1, at + text.size());
    const place& p = *find_place(text);
    if (p.first == nullptr)
      return (path_.substr(at).starts_with(late_mark) &&
              part_at(part + 1, at + late_mark.size())) ||
             part_at(part + 1, at);
    const bool begins = at < path_.size() && p.first(path_[at]);
    if (p.greedy) return begins && inside(part, p, at + 1);
    return (p.may_be_empty && part_at(part + 1, at)) || (begins && inside(part, p, at + 1));
  }

  // Like part_at(), but some characters of the part have been matched.
  bool inside(std::size_t part, const place& p, std::size_t at) {
    const std::size_t begin = begins_[part];
    const auto end_here = [&](std::size_t end) {
      begins_[part] = begin;
      return part_at(part + 1, end);
    };
    std::size_t last = at;
    if (!p.greedy) {
      for (;; ++last) {
        if (!is_new(part, true, last)) return false;
        if (end_here(last)) return true;
        if (last == path_.size() || !p.next(path_[last])) return false;
      }
    }
    // Stops where an earlier attempt has been, because that attempt tried everything from there on.
    while (last < path_.size() && p.next(path_[last]) && !failed_[index_of(part, true, last)])
      ++last;
    for (; last >= at; --last) {
      if (is_new(part, true, last) && end_here(last)) return true;
    }
    return false;
  }

  bool is_new(std::size_t part, bool is_inside, std::size_t at) {
    const std::size_t index = index_of(part, is_inside, at);
    if (failed_[index]) return false;
    return failed_[index] = true;
  }

  std::size_t index_of(std::size_t part, bool is_inside, std::size_t at) const {
    return (2 * part + (is_inside ? 1 : 0)) * (path_.size() + 1) + at;
  }

  const name_pattern::form& parts_;
  std::string_view path_;
  std::vector<bool> failed_;
  std::vector<std::size_t> begins_;
};

name_pattern::name_pattern(const std::string& text) : text_(text) {
  for (const auto& p : platforms()) {
    if (text != p.name) continue;
    is_platform_ = !p.patterns.empty();
    for (const char* one : p.patterns) add(one);
    return;
  }
  if (text.find("{id}") == std::string::npos || text.find("{file}") == std::string::npos) {
    throw failure(exit_code::usage,
                  "--names " + text +
                      ": expected canvas, moodle, gradescope, nbgrader or plain, or a pattern with "
                      "{id} and {file}, such as \"{id}_{late}{number}_{file}\"");
  }
  add(text);
}

void name_pattern::add(std::string_view one) {
  form f;
  std::ptrdiff_t places = 0;
  while (!one.empty()) {
    if (one[0] == '{') {
      const auto end = one.find('}');
      const std::string_view name = one.substr(1, end == std::string_view::npos ? 0 : end - 1);
      if (find_place(name) == nullptr || ++places > most_places) {
        throw failure(exit_code::usage, "--names " + text_ + ": expected at most six of {id}, " +
                                            "{name}, {file}, {time}, {late}, {number} and {any}");
      }
      f.push_back({part::kind::place, std::string(name)});
      if (name == "late") marks_late_ = true;
      one.remove_prefix(end + 1);
    } else {
      const auto end = std::min(one.find('{'), one.size());
      f.push_back({part::kind::text, std::string(one.substr(0, end))});
      one.remove_prefix(end);
    }
  }
  forms_.push_back(std::move(f));
}

std::optional<owner> name_pattern::match_here(std::string_view path, std::size_t begin) const {
  std::optional<owner> best;
  for (const auto& f : forms_) {
    form_match found(f, path);
    if (!found.at(begin)) continue;
    owner o;
    o.begin = begin;
    if (marks_late_) o.late = false;
    for (std::size_t i = 0; i < f.size(); ++i) {
      if (f[i].what == part::kind::text) continue;
      const std::string& place = f[i].text;
      const std::string value(found.text(i));
      if (place == "id") o.id = value;
      if (place == "name") o.name = value;
      if (place == "file") o.file = value;
      if (place == "time") o.time = value;
      if (place == "late") o.late = !value.empty();
      if (place == "number" && o.number.empty()) o.number = value;
    }
    if (o.id.empty()) o.id = o.number;  // Moodle's participant, or Gradescope's submission
    if (o.id.empty() || o.file.empty()) continue;
    // The student chooses the file's name, which may look like another form, in which the person's
    // name would contain part of the file's name. Therefore the shortest person's name wins.
    if (!best || o.name.size() < best->name.size()) best = std::move(o);
  }
  return best;
}

std::optional<owner> name_pattern::match(std::string_view path, std::size_t from) const {
  if (!is_tame(path)) return std::nullopt;
  if (forms_.empty()) return plain_owner(path);
  if (!is_platform_) return match_here(path, 0);
  while (from < path.size()) {
    if (auto found = match_here(path, from)) return found;
    const auto slash = path.find('/', from);
    if (slash == std::string_view::npos) break;
    from = slash + 1;
  }
  return std::nullopt;
}

name_pattern pattern_for(const std::vector<std::string>& paths) {
  const std::string_view above = shared_folder(paths);
  const std::string metadata = std::string(above) + "submission_metadata.yml";
  struct votes {
    std::size_t files = 0, fit = 0;
  };
  const char* best = "plain";
  std::size_t most = 0, outermost = 0;
  for (const auto& p : platforms()) {
    if (p.patterns.empty()) continue;
    const name_pattern pattern(p.name);
    std::map<std::string_view, votes> entries;
    std::size_t begin = std::string::npos;
    for (const auto& path : paths) {
      if (path == metadata) continue;
      const std::string_view entry =
          std::string_view(path).substr(0, std::min(path.find('/', above.size()), path.size()));
      votes& v = entries[entry];
      ++v.files;
      const auto found = pattern.match(path);
      if (!found) continue;
      ++v.fit;
      begin = std::min(begin, found->begin);
    }
    const auto fits = static_cast<std::size_t>(
        std::count_if(entries.begin(), entries.end(),
                      [](const auto& entry) { return 2 * entry.second.fit > entry.second.files; }));
    // The platform must fit most entries, because a single odd name among plain names is that
    // student's own choice. If two platforms fit equally many entries, the inner one consists of
    // names that students chose.
    if (2 * fits > entries.size() && (fits > most || (fits == most && begin < outermost))) {
      best = p.name;
      most = fits;
      outermost = begin;
    }
  }
  return name_pattern(best);
}

std::optional<std::int64_t> time_of(std::string_view text) {
  std::tm t{};
  if (!read_number(text, 4, t.tm_year) || !skip(text, "-") || !read_number(text, 2, t.tm_mon) ||
      !skip(text, "-") || !read_number(text, 2, t.tm_mday))
    return std::nullopt;
  if (!skip(text, "T -") || !read_number(text, 2, t.tm_hour) || !skip(text, ":-") ||
      !read_number(text, 2, t.tm_min))
    return std::nullopt;
  if (skip(text, ":-") && !read_number(text, 2, t.tm_sec)) return std::nullopt;
  if (t.tm_hour > 23 || t.tm_min > 59 || t.tm_sec > 60) return std::nullopt;
  if (skip(text, "."))
    while (skip(text, "0123456789")) continue;
  while (skip(text, " ")) continue;
  std::int64_t offset = 0;
  if (!text.empty() && text != "Z" && text != "UTC") {
    const bool west = text[0] == '-';
    int hours = 0, minutes = 0;
    if (!skip(text, "+-") || !read_number(text, 2, hours)) return std::nullopt;
    skip(text, ":");
    if (!read_number(text, 2, minutes) || !text.empty()) return std::nullopt;
    offset = (west ? -1 : 1) * (hours * 3600 + minutes * 60);
  }
  using namespace std::chrono;
  const year_month_day date(year(t.tm_year), month(static_cast<unsigned>(t.tm_mon)),
                            day(static_cast<unsigned>(t.tm_mday)));
  if (!date.ok()) return std::nullopt;
  t.tm_year -= 1900;
  t.tm_mon -= 1;
  return static_cast<std::int64_t>(timegm(&t)) - offset;
}

std::string utc_text(std::int64_t seconds) {
  const auto time = static_cast<std::time_t>(seconds);
  std::tm parts{};
  gmtime_r(&time, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

std::string file_name_for(std::string_view id) {
  constexpr const char* digits = "0123456789ABCDEF";
  std::string name;
  for (const char c : id) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || (c == '.' && !name.empty());
    if (plain) {
      name += c;
    } else {
      name += {'%', digits[byte >> 4], digits[byte & 15]};
    }
  }
  // A hash is preceded by "%%", so that no other id has this name.
  if (name.empty() || name.size() > longest_name)
    name = name.substr(0, longest_name - 20) + "%%" + hex_of(sha256(id)).substr(0, 16);
  return name;
}

std::string lower_case(std::string_view text) {
  std::string small(text);
  for (char& c : small)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return small;
}

std::string base_name(std::string_view path) {
  return std::string(path.substr(path.find_last_of("/\\") + 1));
}

std::string shown(std::string_view name) {
  std::string text(name);
  escape_name(text);
  return text;
}

std::string why_wild(std::string_view path) {
  if (path.empty()) return "is empty";
  if (path.size() > longest_path) return fmt::format("has more than {} bytes", longest_path);
  for (const char c : path)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return "has control characters";
  const std::string leaves = "leaves its folder";
  if (path[0] == '/' || path[0] == '\\') return leaves;
  if (path.size() > 1 && path[1] == ':') return leaves;  // C:
  for (std::size_t begin = 0; begin <= path.size();) {
    const auto end = std::min(path.find_first_of("/\\", begin), path.size());
    if (path.substr(begin, end - begin) == "..") return leaves;
    begin = end + 1;
  }
  return {};
}

bool is_tame(std::string_view path) { return why_wild(path).empty(); }

}  // namespace stepwise::batch
