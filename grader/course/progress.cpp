// Reads the file strictly, and rewrites it with one changed entry.
#include "grader/course/progress.hpp"

#include <algorithm>
#include <utility>

#include "common/formats/json.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"

namespace stepwise {
namespace {

constexpr int version = 1;
constexpr std::size_t most_bytes = std::size_t{1} << 20;

std::string word_of(const json& entry, const char* key) {
  return entry.contains(key) && entry.at(key).is_string() ? entry.at(key).get<std::string>() : "";
}

double number_of(const json& entry, const char* key) {
  return entry.contains(key) && entry.at(key).is_number() ? entry.at(key).get<double>() : 0;
}

lab_progress parse(const json& entry) {
  lab_progress p{word_of(entry, "text"),          word_of(entry, "by"),
                 word_of(entry, "verdict"),       word_of(entry, "when"),
                 word_of(entry, "text_of_goals"), number_of(entry, "points"),
                 number_of(entry, "best"),        {},
                 word_of(entry, "packed"),        word_of(entry, "verdict_of_goals")};
  if (entry.contains("met") && entry.at("met").is_array())
    for (const json& name : entry.at("met"))
      if (name.is_string()) p.met.push_back(name.get<std::string>());
  return p;
}

json document_of(const course_progress& all) {
  json j = {{"version", version}, {"labs", json::object()}};
  for (const auto& [name, p] : all.labs) {
    j["labs"][name] = {{"text", p.text},
                       {"by", p.by},
                       {"verdict", p.verdict},
                       {"when", p.when},
                       {"text_of_goals", p.text_of_goals},
                       {"points", p.points},
                       {"best", p.best},
                       {"met", p.met},
                       {"packed", p.packed},
                       {"verdict_of_goals", p.verdict_of_goals}};
  }
  return j;
}

}  // namespace

fs::path progress_file(const fs::path& root) { return root / ".progress.json"; }

std::string hash_of_text(std::string_view text) { return content_hash().add(text).hex(); }

course_progress load_progress(const fs::path& root) {
  course_progress all;
  const fs::path file = progress_file(root);
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return all;
  const auto text = read_bounded(file, most_bytes);
  const json document = text ? parse_json_or_null(*text) : json(nullptr);
  if (!document.is_object() || !document.contains("version") || !document.contains("labs") ||
      !document.at("labs").is_object()) {
    all.trouble = file.filename().string() + " cannot be read";
    return all;
  }
  if (document.at("version") != version) {
    all.trouble = file.filename().string() + " belongs to another version of this course";
    return all;
  }
  for (const auto& [name, entry] : document.at("labs").items())
    if (entry.is_object()) all.labs[name] = parse(entry);
  return all;
}

void remember(const fs::path& root, const fs::path& build, const std::string& lab,
              lab_progress seen) {
  try {
    const file_lock lock(build / "locks" / "progress");
    course_progress all = load_progress(root);
    if (!all.trouble.empty())
      if (const auto text = read_bounded(progress_file(root), most_bytes))
        keep_copy(progress_file(root), *text);
    lab_progress& entry = all.labs[lab];
    if (seen.text_of_goals.empty()) {
      seen.text_of_goals = entry.text_of_goals;
      seen.points = entry.points;
      seen.met = std::move(entry.met);
      seen.verdict_of_goals = entry.verdict_of_goals;
    } else {
      seen.verdict_of_goals = seen.verdict;
    }
    if (seen.packed.empty()) seen.packed = entry.packed;
    seen.best = std::max({seen.best, entry.best, seen.points});
    entry = std::move(seen);
    write_atomically(progress_file(root), json_text(document_of(all), 1) + "\n");
  } catch (const interrupted&) {
    throw;
  } catch (const failure&) {
    // A clone that is not writable remembers nothing.
  }
}

}  // namespace stepwise
