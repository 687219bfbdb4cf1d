// Finds owners from the outermost folder inwards, and then compares their claims.
#include "grader/batch/claims.hpp"

#include <algorithm>
#include <set>

#include "grader/system/files.hpp"

namespace stepwise::batch {
namespace {

constexpr std::uint64_t most_of_metadata = std::uint64_t{32} << 20;
constexpr std::string_view metadata_name = "submission_metadata.yml",
                           timestamp_name = "timestamp.txt", nbgrader_folder = "submitted/";

std::size_t depth_of(std::string_view path, std::size_t begin) {
  return static_cast<std::size_t>(
      std::count(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(begin), '/'));
}

// In nbgrader's layout, the platform writes the time into the assignment's folder.
bool is_nbgrader_folder(std::string_view path, const owner& o) {
  return path.substr(o.begin).starts_with(nbgrader_folder);
}

}  // namespace

claims::claims(const std::vector<member>& all, const name_pattern& pattern, std::size_t above)
    : members_(all), pattern_(pattern), above_(above), owners_(all.size()), all_(all.size()) {
  find_owners();
  if (pattern_.text() == "gradescope") {
    std::set<std::string> folders;
    for (std::size_t i = 0; i < members_.size(); ++i)
      if (owners_[i]) folders.insert(members_[i].path.substr(0, owners_[i]->begin));
    for (const auto& folder : folders) read_metadata(folder);
  }
  for (std::size_t i = 0; i < members_.size(); ++i)
    if (owners_[i]) all_[i] = claim_of(members_[i], *owners_[i]);
  keep_first_claims();
  if (pattern_.is_platform()) leave_out_inner_claims();
  leave_out_own_metadata();
}

void claims::find_owners() {
  std::size_t outermost = std::string::npos;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const std::string& path = members_[i].path;
    owners_[i] = pattern_.match(std::string_view(path).substr(above_));
    if (!owners_[i]) continue;
    owners_[i]->begin += above_;
    outermost = std::min(outermost, depth_of(path, owners_[i]->begin));
  }
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const std::string& path = members_[i].path;
    if (!owners_[i]) {
      const bool of_platform = base_name(path) == metadata_name || base_name(path) == "export.json";
      if (!of_platform) leave_out(i, "its name matches no pattern of " + pattern_.text());
    } else if (depth_of(path, owners_[i]->begin) != outermost) {
      owners_[i].reset();
      leave_out(i, "it is nested deeper than the submissions of " + pattern_.text());
    }
  }
}

void claims::read_metadata(const std::string& folder) {
  const std::string path = folder + std::string(metadata_name);
  for (const auto& m : members_) {
    if (m.path != path || m.what != member::kind::file || facts_.contains(folder)) continue;
    const auto text = read_bounded(m.content, most_of_metadata, false);
    if (!text) {
      broken_.push_back(
          shown(path) +
          ": it cannot be read or has more than 32 MB, so names and times are unknown");
      continue;
    }
    auto read = gradescope_metadata(*text);
    for (const auto& number : read.repeated)
      broken_.push_back(shown(path) + ": it describes submission_" + shown(number) +
                        " more than once; the first description counts");
    facts_[folder] = std::move(read.by_number);
  }
}

claim claims::claim_of(const member& m, const owner& o) const {
  const std::string folder = m.path.substr(0, o.begin);
  claim c;
  c.id = o.id;
  c.name = o.name;
  c.file = o.file;
  c.time = o.time;
  c.late = o.late;
  if (pattern_.text() == "plain") {
    c.unit = m.path.substr(0, std::min(m.path.find('/', o.begin), m.path.size()));
  } else if (!pattern_.is_platform()) {
    c.unit = o.id;  // an instructor's pattern: equal ids are the same person
  } else {
    c.unit = folder + (o.number.empty() ? o.id : o.number);
  }
  if (pattern_.text() == "nbgrader" && is_nbgrader_folder(m.path, o))
    c.timestamp = m.path.substr(0, m.path.size() - o.file.size()) + std::string(timestamp_name);
  if (const auto facts = facts_.find(folder); facts != facts_.end()) {
    if (const auto known = facts->second.find(o.number); known != facts->second.end()) {
      c.name = known->second.name;
      if (!known->second.id.empty()) c.id = known->second.id;
      c.submitted = known->second.time;
    }
  }
  return c;
}

// Keeps the first unit in path order. All names begin at the same depth.
void claims::keep_first_claims() {
  std::map<std::string, std::pair<std::string, std::string>> first;  // unit and path by id
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (!all_[i]) continue;
    const auto [known, is_new] =
        first.try_emplace(all_[i]->id, std::pair(all_[i]->unit, members_[i].path));
    if (is_new || known->second.first == all_[i]->unit) continue;
    report(i, "a second file claims to be from " + shown(all_[i]->id) +
                  ", but their submission is " + shown(known->second.second));
  }
}

// Excludes a folder inside one person's work that is named like another person's submission.
void claims::leave_out_inner_claims() {
  std::map<std::string, std::string> ids;  // by the platform's name for them
  for (std::size_t i = 0; i < members_.size(); ++i)
    if (all_[i]) ids.emplace(owners_[i]->id, all_[i]->id);
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const std::string& path = members_[i].path;
    auto slash = all_[i] ? path.find('/', owners_[i]->begin) : std::string::npos;
    while (slash != std::string::npos) {
      const auto inner = pattern_.match(path, slash + 1);
      if (!inner) break;
      const auto other = ids.find(inner->id);
      if (other != ids.end() && other->second != all_[i]->id) {
        report(i, shown(all_[i]->id) + " handed it in under the name of " + shown(other->second));
        break;
      }
      slash = path.find('/', inner->begin);
    }
  }
}

// Excludes a person's own file that is named like a platform's metadata. Such a file would change
// nothing, but the instructor should know.
void claims::leave_out_own_metadata() {
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (!all_[i] || members_[i].path == all_[i]->timestamp) continue;
    const std::string base = lower_case(base_name(members_[i].path));
    if (base != metadata_name && base != timestamp_name) continue;
    report(i, shown(all_[i]->id) + " handed it in; only the platform's own " + base + " counts");
  }
}

void claims::leave_out(std::size_t file, const std::string& why) {
  left_out_.push_back(shown(members_[file].path) + ": " + why);
}

void claims::report(std::size_t file, const std::string& why) {
  forged& f = forged_[all_[file]->unit];
  if (f.files++ == 0) {
    f.path = shown(members_[file].path);
    f.why = why;
  } else if (f.files <= 5 && f.why.find(why) == std::string::npos) {
    f.why += "; " + shown(members_[file].path) + ": " + why;
  }
  all_[file].reset();
}

std::vector<std::string> claims::reports() const {
  std::vector<std::string> all = broken_;
  for (const auto& [unit, f] : forged_) {
    std::string text = f.path + ": " + f.why;
    if (f.files > 1)
      text += "; other files of this person that were left out: " + std::to_string(f.files);
    all.push_back(std::move(text));
  }
  return all;
}

}  // namespace stepwise::batch
