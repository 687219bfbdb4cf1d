// Files as JSON, written atomically. Replaced entries move to history/.
#include "grader/batch/results.hpp"

#include <sys/random.h>
#include <unistd.h>

#include <algorithm>

#include "grader/batch/names.hpp"
#include "grader/judge/key.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"

namespace stepwise::batch {
namespace {

json text_or_null(const std::string& text) { return text.empty() ? json(nullptr) : json(text); }

std::string text_of(const json& j, const char* key) {
  const auto found = j.find(key);
  return found == j.end() || found->is_null() ? std::string{} : found->get<std::string>();
}

template <class Value>
json value_or_null(const std::optional<Value>& value) {
  return value ? json(*value) : json(nullptr);
}

std::string fresh_salt() {
  unsigned char bytes[16] = {};
  [[maybe_unused]] const auto n = getrandom(bytes, sizeof bytes, 0);
  return hex_of(sha256({reinterpret_cast<const char*>(bytes), sizeof bytes})).substr(0, 32);
}

std::string text_of_info(const batch_info& info) {
  const json j = {{"schema", "stepwise/batch/1"},
                  {"lab", info.lab},
                  {"source", text_or_null(info.source)},
                  {"names", text_or_null(info.names)},
                  {"due", info.due ? json(utc_text(*info.due)) : json(nullptr)},
                  {"left_out", info.left_out},
                  {"salt", info.salt}};
  return json_text(j, 1) + "\n";
}

std::vector<fs::path> documents_in(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename();
    if (name.ends_with(".json") && name[0] != '.') files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

json json_of(const submission& s) {
  return {{"schema", "stepwise/submission/1"},
          {"id", s.id},
          {"name", text_or_null(s.name)},
          {"file", text_or_null(s.file)},
          {"submission", text_or_null(s.sha256)},
          {"answers", text_or_null(s.answers_sha256)},
          {"refused", text_or_null(s.refused)},
          {"submitted_at", s.time ? json(utc_text(*s.time)) : json(nullptr)},
          {"late", value_or_null(s.late)},
          {"late_seconds", value_or_null(s.late_s)},
          {"notes", s.notes}};
}

submission submission_of(const json& j) {
  submission s;
  s.id = j.at("id").get<std::string>();
  s.name = text_of(j, "name");
  s.file = text_of(j, "file");
  s.sha256 = text_of(j, "submission");
  s.answers_sha256 = text_of(j, "answers");
  s.refused = text_of(j, "refused");
  s.time = time_of(text_of(j, "submitted_at"));
  if (j.at("late").is_boolean()) s.late = j.at("late").get<bool>();
  if (j.at("late_seconds").is_number()) s.late_s = j.at("late_seconds").get<std::int64_t>();
  s.notes = j.at("notes").get<std::vector<std::string>>();
  return s;
}

json json_of(const verdict_key& k) {
  return {{"submission", k.submission}, {"lab", k.lab},       {"grader", k.grader},
          {"toolkit", k.toolkit},       {"device", k.device}, {"key", k.key}};
}

results::results(fs::path folder) : folder_(std::move(folder)) {
  const auto text = read_if_there(folder_ / "batch.json");
  const json j = text ? parse_json_or_null(*text) : json();
  if (!j.is_object() || !j.contains("lab")) {
    throw failure(exit_code::usage, folder_.string() +
                                        ": this folder contains no results of `lab grade-all`\nto "
                                        "create results: ./lab grade-all FOLDER LAB --out RESULTS");
  }
  info_.lab = text_of(j, "lab");
  info_.source = text_of(j, "source");
  info_.names = text_of(j, "names");
  info_.salt = text_of(j, "salt");
  info_.due = time_of(text_of(j, "due"));
  if (j.contains("left_out")) info_.left_out = j.at("left_out").get<std::vector<std::string>>();
}

results results::open_or_make(const fs::path& folder, const std::string& lab) {
  std::error_code ignored;
  if (!fs::exists(folder / "batch.json", ignored)) {
    if (fs::exists(folder, ignored) && !fs::is_empty(folder, ignored)) {
      throw failure(exit_code::usage, folder.string() +
                                          " is not empty and contains no results\nname a new "
                                          "folder, which will be created: --out RESULTS");
    }
    batch_info info;
    info.lab = lab;
    info.salt = fresh_salt();
    write_atomically(folder / "batch.json", text_of_info(info));
  }
  results r(folder);
  if (r.info().lab != lab) {
    throw failure(exit_code::usage, folder.string() + " contains results of " + r.info().lab +
                                        "\nuse another folder for another lab");
  }
  return r;
}

void results::write(const batch_info& info) {
  info_ = info;
  write_atomically(folder_ / "batch.json", text_of_info(info));
}

std::vector<submission> results::submissions() const {
  std::vector<submission> all;
  for (const auto& file : documents_in(folder_ / "submissions")) {
    try {
      all.push_back(submission_of(parse_json(read_if_there(file).value_or(""))));
    } catch (const json_error& error) {
      throw failure(exit_code::environment,
                    file.string() + " is damaged: " + error.what() +
                        "\nto read the submissions again: ./lab grade-all FOLDER " + info_.lab +
                        " --out " + folder_.string());
    }
  }
  std::sort(all.begin(), all.end(),
            [](const submission& a, const submission& b) { return a.id < b.id; });
  return all;
}

void results::write(const submission& s) {
  const fs::path file = folder_ / "submissions" / (file_name_for(s.id) + ".json");
  const std::string text = json_text(json_of(s), 1) + "\n";
  if (read_if_there(file) != text) write_atomically(file, text);
}

std::string results::keep(std::string_view content, const std::string& name) {
  const std::string sha = hex_of(sha256(content));
  const fs::path file = content_of(sha, name);
  if (read_if_there(file) != content) write_atomically(file, content);
  return sha;
}

fs::path results::content_of(const std::string& sha256, const std::string& name) const {
  return folder_ / "files" / sha256 / name;
}

fs::path results::journal_file(const std::string& id) const {
  return folder_ / "journal" / (file_name_for(id) + ".json");
}

json results::entry(const std::string& id) const {
  const auto text = read_if_there(journal_file(id));
  json j = text ? parse_json_or_null(*text) : json();
  return j.is_object() && j.contains("class") && j.value("id", "") == id ? j : json();
}

std::vector<json> results::entries() const {
  std::vector<json> all;
  for (const auto& s : submissions())
    if (json e = entry(s.id); !e.is_null()) all.push_back(std::move(e));
  return all;
}

void results::write_entry(const std::string& id, const json& entry) {
  const fs::path file = journal_file(id);
  const std::string text = json_text(entry, 1) + "\n";
  if (const auto old = read_if_there(file); old && *old != text) {
    // The entry's name is derived from its content, so a kill between the two writes leaves no
    // duplicate.
    const fs::path earlier =
        folder_ / "history" /
        (file_name_for(id) + "-" + hex_of(sha256(*old)).substr(0, 16) + ".json");
    if (!fs::exists(earlier)) write_atomically(earlier, *old);
  }
  write_atomically(file, text);
}

void results::mark(const std::string& id) {
  write_atomically(folder_ / "pending" / file_name_for(id), id + "\n");
}

void results::unmark(const std::string& id) {
  std::error_code ignored;
  fs::remove(folder_ / "pending" / file_name_for(id), ignored);
}

bool results::is_marked(const std::string& id) const {
  std::error_code ignored;
  return fs::exists(folder_ / "pending" / file_name_for(id), ignored);
}

void results::remove_leftovers() const {
  std::error_code ignored;
  for (const char* kind : {"", "submissions", "journal", "history"}) {
    for (const auto& entry : fs::directory_iterator(folder_ / kind, ignored)) {
      const std::string name = entry.path().filename();
      const bool half_written = name[0] == '.' && name.find(".json.") != std::string::npos;
      // "tmp-" is the prefix of earlier versions.
      if (half_written || name.starts_with(temporary_folder::prefix) || name.starts_with("tmp-"))
        fs::remove_all(entry.path(), ignored);
    }
  }
  for (const auto& folder : fs::directory_iterator(folder_ / "files", ignored)) {
    for (const auto& entry : fs::directory_iterator(folder.path(), ignored))
      if (entry.path().filename().string()[0] == '.') fs::remove(entry.path(), ignored);
  }
}

}  // namespace stepwise::batch
