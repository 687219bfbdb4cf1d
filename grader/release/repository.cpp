// Runs git as a child, with a default user name if none is configured.
#include "grader/release/repository.hpp"

#include "grader/course/source.hpp"
#include "grader/report/text.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"
#include "grader/system/process.hpp"

namespace stepwise {
namespace {

constexpr double seconds_for_git = 120;

// `setting` is NAME=value or empty.
child_result try_git(std::vector<std::string> words, const std::string& setting = {}) {
  if (on_path("git").empty())
    throw failure(exit_code::environment, "releasing needs git: apt-get install git");
  child_options options;
  options.command = {"git"};
  options.command.insert(options.command.end(), words.begin(), words.end());
  // Variables from a surrounding hook or shell would select another repository.
  options.environment = {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "LC_ALL=C"};
  if (!setting.empty()) options.environment.push_back(setting);
  options.keep_bytes = 4 << 20;
  return run_child(options, seconds_for_git);
}

std::string git(const std::vector<std::string>& words, const std::string& setting = {}) {
  const auto result = try_git(words, setting);
  if (result.end.ok()) return result.out;
  std::string message = "git " + words.back() + " failed";
  for (const auto& line : escaped_lines(result.err, 5, 300)) message += "\n" + line;
  throw failure(exit_code::environment, message);
}

std::string first_word(const std::string& text) {
  return text.substr(0, text.find_first_of(" \n"));
}

bool has_commit(const fs::path& copy) {
  return try_git({"--git-dir=" + (copy / ".git").string(), "rev-parse", "--verify", "HEAD"})
      .end.ok();
}

// Whether there is nothing, or only a repository without a commit: a new one, a clone from a
// server, or the remains of an interrupted release.
bool is_vacant(const fs::path& copy) {
  if (!fs::exists(copy)) return true;
  if (!fs::is_directory(copy)) return false;
  for (const auto& entry : fs::directory_iterator(copy))
    if (entry.path().filename() != ".git") return false;
  return !has_commit(copy);
}

bool is_configured(const fs::path& copy, const std::string& key) {
  return try_git({"-C", copy, "config", key}).end.ok();
}

}  // namespace

void export_head(const fs::path& root, const fs::path& to) {
  const fs::path archive = to / "head.tar";
  if (!try_git({"-C", root, "rev-parse", "--verify", "HEAD"}).end.ok())
    throw failure(exit_code::environment,
                  root.string() + " is not a git repository\na student copy contains only " +
                      "committed files, so create it in a clone");
  git({"-C", root, "archive", "--format=tar", "--output=" + archive.string(), "HEAD"});
  child_options tar;
  tar.command = {"tar", "--extract", "--file=" + archive.string(), "--force-local",
                 "--directory=" + to.string()};
  tar.environment = {"TAR_OPTIONS", "LC_ALL=C"};
  if (!run_child(tar, seconds_for_git).end.ok())
    throw failure(exit_code::environment, "tar cannot unpack into " + to.string());
  fs::remove(archive);
}

std::vector<std::string> changed_files(const fs::path& root) {
  return split_lines(git({"-C", root, "diff", "--name-only", "HEAD"}));
}

committed commit_tree(const fs::path& tree, const fs::path& copy, const std::string& message) {
  const bool is_first = is_vacant(copy);
  if (!is_first) {
    if (!has_commit(copy) || !fs::exists(copy / "labs" / "calendar.toml"))
      throw failure(exit_code::usage, copy.string() + " exists but is not a student copy");
    if (!git({"-C", copy, "status", "--porcelain"}).empty())
      throw failure(exit_code::usage, copy.string() + " has uncommitted changes\n`git -C " +
                                          copy.string() + " status` shows them");
  } else {
    make_folder(copy);
    git({"-c", "init.defaultBranch=main", "init", "--quiet", copy});
  }
  // A separate index leaves the copy's own unchanged, so that reset also removes deleted files.
  const fs::path folder = copy / ".git", index = folder / "release-index";
  const std::string own_index = "GIT_INDEX_FILE=" + index.string();
  const std::vector<std::string> there = {"--git-dir=" + folder.string(),
                                          "--work-tree=" + tree.string()};
  const auto with = [&](std::vector<std::string> words) {
    words.insert(words.begin(), there.begin(), there.end());
    return git(words, own_index);
  };
  fs::remove(index);
  // Ignore rules exclude files from a commit, but this tree is already selected.
  with({"-c", "core.autocrlf=false", "add", "--all", "--force", "."});
  const std::string made = first_word(with({"write-tree"}));
  fs::remove(index);
  if (!is_first && first_word(git({"-C", copy, "rev-parse", "HEAD^{tree}"})) == made)
    return committed::nothing_new;
  std::vector<std::string> commit;
  if (!is_configured(copy, "user.name")) commit = {"-c", "user.name=Stepwise"};
  if (!is_configured(copy, "user.email"))
    commit.insert(commit.end(), {"-c", "user.email=stepwise@localhost"});
  commit.insert(commit.end(), {"-C", copy, "commit-tree", made, "-m", message});
  if (!is_first) commit.insert(commit.end(), {"-p", "HEAD"});
  git({"-C", copy, "reset", "--quiet", "--hard", first_word(git(commit))});
  return is_first ? committed::first : committed::another;
}

void zip_folder(const fs::path& folder, const fs::path& archive) {
  static const char* const script = R"(
import os, sys, zipfile
folder, archive = sys.argv[1:]
with zipfile.ZipFile(archive, 'w', zipfile.ZIP_DEFLATED) as out:
    for at, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted(files):
            path = os.path.join(at, name)
            entry = zipfile.ZipInfo(os.path.relpath(path, folder), (2026, 1, 1, 0, 0, 0))
            entry.external_attr = (0o100000 | os.stat(path).st_mode & 0o777) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            with open(path, 'rb') as file:
                out.writestr(entry, file.read())
)";
  if (on_path("python3").empty())
    throw failure(exit_code::environment, "creating a zip needs Python 3: apt-get install python3");
  const fs::path part = archive.string() + ".part";
  child_options python;
  python.command = {"python3", "-c", script, folder, part};
  const auto result = run_child(python, seconds_for_git);
  std::error_code error;
  if (result.end.ok()) fs::rename(part, archive, error);
  if (result.end.ok() && !error) return;
  std::string message = "cannot write " + archive.string();
  for (const auto& line : escaped_lines(result.err, 3, 300)) message += "\n" + line;
  fs::remove(part, error);
  throw failure(exit_code::environment, message);
}

}  // namespace stepwise
