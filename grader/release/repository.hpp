// Trees in git: the committed course, and the repository of a student copy.
//
// idea    Only committed files are released, never an instructor's other files. A release is one
//         commit, and a later release is another commit on top of it. A tree is made elsewhere and
//         then committed, so that an interrupted release leaves the copy as it was.
// Tested by tests/release_test.cpp.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace stepwise {

namespace fs = std::filesystem;

// Writes the tree of HEAD of the repository at `root` to `to`. Throws failure(environment) if
// `root` is not a repository or git is not installed.
void export_head(const fs::path& root, const fs::path& to);

// Tracked files that differ from HEAD.
std::vector<std::string> changed_files(const fs::path& root);

// The result of commit_tree.
enum class committed { first, another, nothing_new };

// Commits all of `tree` to the repository `copy`, which is created if it is missing or has no
// commit. Throws failure(usage) if `copy` is anything else, or has uncommitted changes.
committed commit_tree(const fs::path& tree, const fs::path& copy, const std::string& message);

// A zip of all files below `folder`, with their modes and in sorted order, so that equal folders
// make equal archives. Throws failure(environment) without Python, which writes the zip.
void zip_folder(const fs::path& folder, const fs::path& archive);

}  // namespace stepwise
