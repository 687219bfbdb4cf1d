// Walks a folder without following links.
#include <algorithm>

#include "grader/batch/member.hpp"
#include "grader/system/failure.hpp"

namespace stepwise::batch {
namespace {

constexpr int deepest = 8;
constexpr std::size_t most_files = 100'000;

void walk(const fs::path& folder, const std::string& prefix, int depth, members& found) {
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  for (; entries != fs::directory_iterator(); entries.increment(error)) {
    if (found.all.size() >= most_files) {
      found.broken = "it contains too many files";
      return;
    }
    const fs::path& path = entries->path();
    member m;
    m.path = prefix + path.filename().string();
    const auto status = entries->symlink_status(error);
    if (fs::is_directory(status)) {
      if (depth == deepest) {
        found.broken = m.path + " is nested too deeply";
      } else {
        walk(path, m.path + "/", depth + 1, found);
      }
      continue;
    }
    m.what = fs::is_symlink(status)        ? member::kind::link
             : fs::is_regular_file(status) ? member::kind::file
                                           : member::kind::device;
    if (m.what == member::kind::file) {
      m.bytes = entries->file_size(error);
      m.content = path;
    }
    found.all.push_back(std::move(m));
  }
  // An iterator that fails becomes the end iterator.
  if (error) found.broken = "cannot read " + folder.string() + ": " + error.message();
}

}  // namespace

members read_folder(const fs::path& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) {
    throw failure(exit_code::usage, folder.string() + ": there is no such folder");
  }
  members found;
  walk(folder, "", 0, found);
  std::sort(found.all.begin(), found.all.end(),
            [](const member& a, const member& b) { return a.path < b.path; });
  return found;
}

}  // namespace stepwise::batch
