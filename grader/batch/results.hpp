// A results folder: the submissions, their verdicts, and the verdicts that were replaced.
//
// idea    DESIGN.md lists the folder's files. Each file is complete or missing, and its name is
//         derived from an id, a content's hash, or both.
// Tested by tests/results_test.cpp.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/formats/json.hpp"

namespace stepwise::batch {

namespace fs = std::filesystem;

// The submission of one person or one group.
struct submission {
  std::string id, name;                // name: empty if only the id is known
  std::string file;                    // the .cu, as submitted
  std::string sha256, answers_sha256;  // empty if there is none
  std::string refused;                 // the reason that it cannot be graded; empty if it can
  std::optional<std::int64_t> time;    // when it was submitted, in seconds since 1970
  std::optional<bool> late;
  std::optional<std::int64_t> late_s;
  std::vector<std::string> notes;  // for an instructor
};
json json_of(const submission& s);
submission submission_of(const json& j);  // throws json_error

// Everything that a verdict depends on: equal keys mean equal verdicts.
struct verdict_key {
  std::string submission, lab, grader, toolkit, device, key;
  bool operator==(const verdict_key&) const = default;
};
json json_of(const verdict_key& k);

// The subject of a batch. A folder belongs to one lab.
struct batch_info {
  std::string lab, source, names;
  std::optional<std::int64_t> due;
  std::vector<std::string> left_out;  // files of the source without an owner
  std::string salt;                   // for pseudonyms, random per folder
};

class results {
 public:
  // Opens an existing results folder. Throws failure(usage) if `folder` is not a results folder.
  explicit results(fs::path folder);
  // Creates the folder if it is missing. Throws failure(usage) if it holds another lab's results,
  // or is anything else that is not empty.
  static results open_or_make(const fs::path& folder, const std::string& lab);

  const fs::path& folder() const { return folder_; }
  const batch_info& info() const { return info_; }
  void write(const batch_info& info);

  // Sorted by id.
  std::vector<submission> submissions() const;
  void write(const submission& s);
  // Stores a content once. Returns its hash.
  std::string keep(std::string_view content, const std::string& name);
  fs::path content_of(const std::string& sha256, const std::string& name) const;

  // Null if there is no such entry. An entry that is not JSON counts as missing, and the next
  // verdict moves it to history/.
  json entry(const std::string& id) const;
  // All existing entries, sorted by id.
  std::vector<json> entries() const;
  // Moves a replaced entry into history/ if it changed.
  void write_entry(const std::string& id, const json& entry);

  // Marks a verdict to be made again. All marks are set before the first verdict is made, so that
  // no mark is lost if the process is killed.
  void mark(const std::string& id);
  void unmark(const std::string& id);
  bool is_marked(const std::string& id) const;

  fs::path lock_file() const { return folder_ / "lock"; }
  // Removes files that a killed batch left half written.
  void remove_leftovers() const;

 private:
  fs::path journal_file(const std::string& id) const;

  fs::path folder_;
  batch_info info_;
};

}  // namespace stepwise::batch
