// Patterns as regular expressions, times of several spellings, ids as names of files.
#include "grader/batch/names.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <ctime>

#include "grader/judge/key.hpp"
#include "grader/system/failure.hpp"

namespace stepwise::batch {
namespace {

constexpr std::size_t longest_path = 400, longest_name = 100;
constexpr int most_places = 6;  // each multiplies what a match may cost

struct platform {
  const char* name;
  std::vector<const char*> patterns;
};

// In the order in which they are tried: those that ask for more come first.
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

struct place {
  std::string_view name, expression;
};
constexpr std::array<place, 7> known_places = {{{"id", "([^/]+?)"},
                                                {"name", "([^/]+?)"},
                                                {"file", "(.+)"},
                                                {"time", "([0-9][0-9T:Z+. -]*)"},
                                                {"late", "((?:LATE_)?)"},
                                                {"number", "([0-9]+)"},
                                                {"any", "([^/]*?)"}}};

std::string_view without_ending(std::string_view file) {
  for (const std::string_view ending : {".tar.gz", ".tgz", ".tar", ".zip", ".cu"})
    if (file.size() > ending.size() && file.ends_with(ending))
      return file.substr(0, file.size() - ending.size());
  return {};
}

// ID/FILE, ID.cu, ID.zip, and what `lab pack` makes: LAB-ID.tar.gz.
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

}  // namespace

name_pattern::name_pattern(const std::string& text) : text_(text) {
  for (const auto& p : platforms()) {
    if (text != p.name) continue;
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
  std::string expression = "(?:.*/)?";
  if (text_ != "nbgrader" && text_ != "moodle" && text_ != "canvas" && text_ != "gradescope")
    expression.clear();
  while (!one.empty()) {
    if (one[0] == '{') {
      const auto end = one.find('}');
      const std::string_view name = one.substr(1, end == std::string_view::npos ? 0 : end - 1);
      const auto known = std::find_if(known_places.begin(), known_places.end(),
                                      [&](const place& p) { return p.name == name; });
      if (known == known_places.end() || f.places.size() == most_places) {
        throw failure(exit_code::usage, "--names " + text_ + ": expected at most six of {id}, " +
                                            "{name}, {file}, {time}, {late}, {number} and {any}");
      }
      expression += known->expression;
      f.places.emplace_back(name);
      one.remove_prefix(end + 1);
    } else {
      if (std::string_view(R"(.^$|()[]{}*+?\)").find(one[0]) != std::string_view::npos)
        expression += '\\';
      expression += one[0];
      one.remove_prefix(1);
    }
  }
  if (std::count(f.places.begin(), f.places.end(), "late") > 0) marks_late_ = true;
  f.expression = std::regex(expression);
  forms_.push_back(std::move(f));
}

std::optional<owner> name_pattern::match(std::string_view path) const {
  if (!is_tame(path)) return std::nullopt;
  if (forms_.empty()) return plain_owner(path);
  const std::string text(path);
  for (const auto& f : forms_) {
    std::smatch found;
    if (!std::regex_match(text, found, f.expression)) continue;
    owner o;
    std::string number;
    if (marks_late_) o.late = false;
    for (std::size_t i = 0; i < f.places.size(); ++i) {
      const std::string& place = f.places[i];
      const std::string value = found[i + 1].str();
      if (place == "id") o.id = value;
      if (place == "name") o.name = value;
      if (place == "file") o.file = value;
      if (place == "time") o.time = value;
      if (place == "late") o.late = !value.empty();
      if (place == "number" && number.empty()) number = value;
    }
    if (o.id.empty()) o.id = number;  // Moodle's participant, Gradescope's submission
    if (!o.id.empty() && !o.file.empty()) return o;
  }
  return std::nullopt;
}

name_pattern pattern_for(const std::vector<std::string>& paths) {
  const char* best = "plain";
  std::size_t most = 0;
  for (const auto& p : platforms()) {
    if (p.patterns.empty()) continue;
    const name_pattern pattern(p.name);
    const auto fits = static_cast<std::size_t>(
        std::count_if(paths.begin(), paths.end(),
                      [&](const std::string& path) { return pattern.match(path).has_value(); }));
    // Most of them: one odd name among plain ones is that student's.
    if (fits > most && 2 * fits > paths.size()) {
      best = p.name;
      most = fits;
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
  // A hash has "%" before it, so that no id's own name is the same.
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

bool is_tame(std::string_view path) {
  if (path.empty() || path.size() > longest_path || path[0] == '/' || path[0] == '\\') return false;
  if (path.size() > 1 && path[1] == ':') return false;  // C:
  for (const char c : path)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return false;
  for (std::size_t begin = 0; begin <= path.size();) {
    const auto end = std::min(path.find_first_of("/\\", begin), path.size());
    if (path.substr(begin, end - begin) == "..") return false;
    begin = end + 1;
  }
  return true;
}

}  // namespace stepwise::batch
