// A results folder: what was handed in, the verdicts on it, and those that were replaced.
//
// idea    DESIGN.md says which files it holds. Each is whole or absent, and its name is made of an
//         id, of a content's hash, or of both.
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

// What one person, or one group, handed in.
struct submission {
  std::string id, name;                // name: empty if only the id is known
  std::string file;                    // the .cu, as it was handed in
  std::string sha256, answers_sha256;  // empty: there is none
  std::string refused;                 // why it cannot be graded; empty: it can
  std::optional<std::int64_t> time;    // when it was handed in, in seconds since 1970
  std::optional<bool> late;
  std::optional<std::int64_t> late_s;
  std::vector<std::string> notes;  // for an instructor
};
json json_of(const submission& s);
submission submission_of(const json& j);  // json_error

// What a verdict depends on; equal keys, equal verdicts.
struct verdict_key {
  std::string submission, lab, grader, toolkit, device, key;
  bool operator==(const verdict_key&) const = default;
};
json json_of(const verdict_key& k);

// What a batch is about; a folder belongs to one lab.
struct batch_info {
  std::string lab, source, names;
  std::optional<std::int64_t> due;
  std::vector<std::string> left_out;  // files of the source without an owner
  std::string salt;                   // of pseudonyms, drawn with the folder
};

class results {
 public:
  // An existing folder; failure(usage) if it is none.
  explicit results(fs::path folder);
  // Makes it where it is not there. failure(usage) if it holds another lab's results, or is
  // something else that is not empty.
  static results open_or_make(const fs::path& folder, const std::string& lab);

  const fs::path& folder() const { return folder_; }
  const batch_info& info() const { return info_; }
  void write(const batch_info& info);

  // By id.
  std::vector<submission> submissions() const;
  void write(const submission& s);
  // Stores a content, once; its hash.
  std::string keep(std::string_view content, const std::string& name);
  fs::path content_of(const std::string& sha256, const std::string& name) const;

  // Null if there is none. An entry that is not JSON counts as none; the next verdict moves it to
  // history/.
  json entry(const std::string& id) const;
  // Of all submissions that have one, by id.
  std::vector<json> entries() const;
  // Puts what it replaces into history/, unless nothing changed.
  void write_entry(const std::string& id, const json& entry);

  // Verdicts that are to be made again: marked before the first of them is, so that a kill forgets
  // none.
  void mark(const std::string& id);
  void unmark(const std::string& id);
  bool is_marked(const std::string& id) const;

  fs::path lock_file() const { return folder_ / "lock"; }
  // What a batch that was killed left half written.
  void remove_leftovers() const;

 private:
  fs::path journal_file(const std::string& id) const;

  fs::path folder_;
  batch_info info_;
};

}  // namespace stepwise::batch
