// The commands in the course's texts that a student copy cannot execute.
// Tested by tests/release_test.cpp and tests/copy_test.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>

namespace stepwise {

namespace fs = std::filesystem;

// The files of a student copy, relative to its root.
class copy_files {
 public:
  explicit copy_files(std::set<fs::path> files) : files_(std::move(files)) {}

  // A file, or a folder with files in it.
  bool has(const fs::path& path) const;
  // `step` is a step's name or number: "03_tiled", "03".
  bool has_skeleton(const std::string& lab, const std::string& step) const;

 private:
  std::set<fs::path> files_;
};

// Whether `./lab ...` needs a worked step, a file or a lab that the copy lacks, or is for authors.
bool needs_whole_course(std::string_view command, const copy_files& files);

// A code line, with a mark if it begins with such a command.
std::string marked_code(const std::string& line, const copy_files& files);
// Prose, with a mark after each such command between backticks.
std::string marked_prose(const std::string& text, const copy_files& files);

}  // namespace stepwise
