// Decides who owns each file if a platform, an instructor and a student all influence its name.
//
// idea    A platform creates the outer folders and the beginnings of names, and puts its metadata
//         next to them. A student chooses everything inside. Therefore, the outermost name decides,
//         all names begin at the same depth, and metadata counts only in the platform's own
//         position. A file that contradicts this is excluded, and reported with the identity that
//         it claims.
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

// The known facts about one file.
struct claim {
  std::string id, name;  // name: empty if only the id is known
  std::string unit;      // the platform's folder, number or name of one person
  std::string file, time;
  std::string timestamp;  // path of the platform's note of the time; empty: none
  std::optional<bool> late;
  std::optional<std::int64_t> submitted;  // from the platform's metadata
};

class claims {
 public:
  // `pattern` describes the files' names below the folder that ends at `above`.
  claims(const std::vector<member>& all, const name_pattern& pattern, std::size_t above);

  // In the order of the files. nullopt for excluded files.
  const std::vector<std::optional<claim>>& all() const { return all_; }
  // Messages for the instructor: claims to another person's identity (one line per person, so that
  // many files hide nothing), and untrustworthy metadata.
  std::vector<std::string> reports() const;
  // Other files without an owner, each with the reason.
  const std::vector<std::string>& left_out() const { return left_out_; }

 private:
  struct forged {
    std::string path, why;  // the first file
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
