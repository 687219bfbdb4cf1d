// Compares and records hashes of headers, keeps warnings as JSON, and removes entries by age.
#include "grader/judge/compile_cache.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "common/formats/json.hpp"

namespace stepwise {
namespace {

constexpr std::size_t most_hashed = std::size_t{64} << 20;
constexpr std::size_t most_rule = std::size_t{16} << 20;
constexpr std::size_t cache_entries = 200;  // per cache: enough for a whole sweep

std::string hash_of_file(const fs::path& file) {
  // A source can name any file that its compiler can see.
  const auto content = read_bounded(file, most_hashed);
  return content ? content_hash().add(*content).hex() : std::string("missing");
}

// The prerequisites of a make rule from `nvcc -MMD`, with escaped spaces and continued lines.
std::vector<std::string> prerequisites(const std::string& rule) {
  std::vector<std::string> files;
  std::string word;
  auto at = rule.find(": ");
  if (at == std::string::npos) return files;
  for (at += 1; at < rule.size(); ++at) {
    const char c = rule[at];
    if (c == '\\' && at + 1 < rule.size() && rule[at + 1] != '\n') {
      word += rule[++at];
    } else if (c == ' ' || c == '\n' || c == '\\' || c == '\t') {
      if (!word.empty()) files.push_back(std::move(word));
      word.clear();
    } else {
      word += c;
    }
  }
  if (!word.empty()) files.push_back(std::move(word));
  return files;
}

}  // namespace

void add_archive(content_hash& hash, const fs::path& archive) {
  std::error_code error;
  const auto time = fs::last_write_time(archive, error);
  // Meson's archives are thin. They only name their objects, so a new object changes only the time.
  hash.add(hash_of_file(archive))
      .add(error ? std::string{} : std::to_string(time.time_since_epoch().count()));
}

bool is_fresh(const fs::path& entry, const fs::path& root) {
  const auto text = read_if_there(entry / "headers.json");
  if (!text || access((entry / "program").c_str(), X_OK) != 0 ||
      access((entry / "warnings.json").c_str(), R_OK) != 0 ||
      access((entry / "kernels").c_str(), R_OK) != 0)
    return false;
  const auto headers = parse_json_or_null(*text);
  if (!headers.is_object()) return false;
  for (const auto& [file, hash] : headers.items()) {
    if (!hash.is_string() || hash_of_file(root / file) != hash.get<std::string>()) return false;
  }
  return true;
}

void mark_as_used(const fs::path& entry) {
  std::error_code ignored;
  fs::last_write_time(entry / "headers.json", fs::file_time_type::clock::now(), ignored);
}

void remember_warnings(const fs::path& entry, const std::vector<compiler_warning>& warnings) {
  json all = json::array();
  for (const auto& w : warnings)
    all.push_back({{"line", w.line}, {"message", w.message}, {"text", w.text}});
  write_atomically(entry / "warnings.json", json_text(all, 1) + "\n");
}

std::vector<compiler_warning> remembered_warnings(const fs::path& entry) {
  std::vector<compiler_warning> warnings;
  const json all = parse_json_or_null(read_if_there(entry / "warnings.json").value_or(""));
  if (!all.is_array()) return warnings;
  for (const json& w : all) {
    if (!w.is_object()) continue;
    warnings.push_back({w.value("line", 0), w.value("message", ""), w.value("text", "")});
  }
  return warnings;
}

void remember_headers(const fs::path& entry, const std::vector<fs::path>& rules,
                      const fs::path& root, const std::vector<fs::path>& passing) {
  json headers = json::object();
  const auto remember = [&](const std::string& file) {
    const bool passes = std::any_of(passing.begin(), passing.end(), [&](const fs::path& folder) {
      return file.starts_with(folder.string() + "/");
    });
    if (!passes && !headers.contains(file)) headers[file] = hash_of_file(root / file);
  };
  for (const auto& rule : rules) {
    for (const auto& file : prerequisites(read_bounded(rule, most_rule).value_or("")))
      remember(file);
  }
  // A name that is not UTF-8 becomes a name that no file has, so its program is never reused.
  write_atomically(entry / "headers.json", json_text(headers, 1) + "\n");
}

void prune_cache(const fs::path& cache) {
  std::vector<std::pair<fs::file_time_type, fs::path>> entries;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(cache, ignored)) {
    if (!entry.is_directory(ignored)) continue;  // a lock
    if (fs::exists(entry.path() / "headers.json", ignored)) {
      entries.emplace_back(fs::last_write_time(entry.path() / "headers.json", ignored),
                           entry.path());
    } else if (fs::file_time_type::clock::now() - entry.last_write_time(ignored) >
               std::chrono::hours(24)) {
      fs::remove_all(entry.path(), ignored);
    }
  }
  if (entries.size() <= cache_entries) return;
  std::sort(entries.begin(), entries.end());
  for (std::size_t i = 0; i < entries.size() - cache_entries; ++i) {
    fs::remove_all(entries[i].second, ignored);
  }
}

}  // namespace stepwise
