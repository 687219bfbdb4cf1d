// A source file as nvcc is given it: a copy under a plain name, whatever its own is.
//
// idea    nvcc writes its input's name, with all links in it resolved, into command lines that a
//         shell reads, between double quotes: $(...) in it is executed; quotes, and fatbinary's
//         commas, break it. So the compiler only ever sees plain names. A #line gives the text its
//         own name back: in messages, __FILE__ and the tables of lines. A judged text gets another
//         name instead, which says nothing about the file; messages still name the file. Where that
//         name's folder is not plain, a link in a plain folder leads to the headers beside the
//         file.
// watch   cicc escapes quotes and backslashes in the PTX's `.file`, and ptxas does not read that.
//         Device code whose file's name has them gets percent_coded() names, which the emulator
//         reads back (common/device/names.hpp).
// Tested by tests/plain_source_test.cpp and cli/tests/names_cli_test.cpp.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "grader/system/files.hpp"

namespace stepwise {

// Does `text` mean itself to a shell, to make, to the loader, and in nvcc's lists?
bool is_plain(std::string_view text);

// The folder for temporary files: TMPDIR, or /tmp where that is not plain.
std::filesystem::path plain_temporary_path();

class plain_source {
 public:
  // `shown` names `file` in messages. `folder` has a plain name and lasts as long as the lines'
  // names are to lead to headers beside the file.
  plain_source(const std::filesystem::path& file, const std::string& shown, std::string_view text,
               const std::filesystem::path& folder);
  // The compiler and the program know the text as `stand_in`, a plain path that says nothing about
  // the file. `stand_in_shown` is the same path as a #line gives it.
  plain_source(const std::filesystem::path& file, const std::string& shown, std::string_view text,
               const std::filesystem::path& folder, const std::filesystem::path& stand_in,
               const std::string& stand_in_shown);

  std::string path() const { return copy_.path() / "student.cu"; }
  // nvcc's, so that #include "..." finds what lies beside the file.
  std::vector<std::string> flags() const;
  // What the compiler said, with files named as they were given.
  std::string as_typed(std::string text) const;

 private:
  const std::filesystem::path file_;
  const std::string shown_;
  const std::string coded_, told_;  // the text's name in device code, and in a #line
  std::filesystem::path beside_;    // the file's folder, or the link to it
  const temporary_folder copy_;
};

// UTF-16, which no compiler here reads; `text` is a file's content.
bool is_utf16(std::string_view text);
std::string utf16_refusal(const std::string& shown);  // one sentence

}  // namespace stepwise
