// Decides who owns each file when a platform, an instructor and a student all have a say.
//
// idea    A platform makes the outer folders and the beginnings of names, and puts its metadata
//         next to them. A student chooses everything inside. So the outermost name decides, all
//         names begin equally deep, and metadata counts only where the platform puts it. A file
//         that says otherwise is left out, and reported with the identity that it claims.
// Tested by tests/claims_test.cpp.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "grader/batch/member.hpp"
#include "grader/batch/metadata.hpp"
#include "grader/batch/names.hpp"

namespace stepwise::batch {

// What is known of one file.
struct claim {
  std::string id, name;  // name: empty if there is none beside the id
  std::string unit;      // the platform's folder, number or name, which belongs to one person
  std::string file, time;
  std::string timestamp;  // the path at which the platform notes the time; empty: it does not
  std::optional<bool> late;
  std::optional<std::int64_t> submitted;  // by the platform's metadata
};

class claims {
 public:
  // `pattern` says how files are named below the folder that ends at `above`.
  claims(const std::vector<member>& all, const name_pattern& pattern, std::size_t above);

  // In the order of the files; nothing for those that are left out.
  const std::vector<std::optional<claim>>& all() const { return all_; }
  // Messages for the instructor: claims to another person's identity, in one line for all
  // files of a person, so that many files hide nothing; metadata that cannot be believed.
  std::vector<std::string> reports() const;
  // Other files without an owner, each with the reason.
  const std::vector<std::string>& left_out() const { return left_out_; }

 private:
  struct forged {
    std::string path, why;  // of the first file
    std::size_t files = 0;
  };
  void find_owners();
  void read_metadata(const std::string& folder);
  claim claim_of(const member& m, const owner& o) const;
  void keep_first_claims();
  void leave_out_inner_claims();
  void leave_out_own_metadata();
  void leave_out(std::size_t file, const std::string& why);
  void report(std::size_t file, const std::string& why);

  const std::vector<member>& members_;
  const name_pattern& pattern_;
  const std::size_t above_;
  std::vector<std::optional<owner>> owners_;
  std::vector<std::optional<claim>> all_;
  std::map<std::string, std::map<std::string, submission_facts>> facts_;  // by folder and number
  std::map<std::string, forged> forged_;                                  // by unit
  std::vector<std::string> broken_, left_out_;
};

}  // namespace stepwise::batch
