// Trees in git: what is committed here, and the repository of a student copy.
//
// idea    Only what is committed is released, so an instructor's files beside it never are. A
//         release is one commit; a later one is a commit on top of it. A tree is made elsewhere and
//         then committed, so that an interrupted release leaves the copy as it was.
// Tested by tests/release_test.cpp.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace stepwise {

namespace fs = std::filesystem;

// Writes the tree of HEAD of the repository at `root` to `to`. failure(environment) if that is no
// repository, or git is not installed.
void export_head(const fs::path& root, const fs::path& to);

// Tracked files whose content is not that of HEAD.
std::vector<std::string> changed_files(const fs::path& root);

// What commit_tree found and did.
enum class committed { first, another, nothing_new };

// Commits all of `tree` to the repository `copy`, which is made if it is not there; one without a
// commit will do, too. failure(usage) if there is something else, or changes that are not
// committed.
committed commit_tree(const fs::path& tree, const fs::path& copy, const std::string& message);

// A zip of all files below `folder`, which keep their modes; sorted names, so that equal folders
// make equal archives. failure(environment) without Python, which writes it.
void zip_folder(const fs::path& folder, const fs::path& archive);

}  // namespace stepwise
