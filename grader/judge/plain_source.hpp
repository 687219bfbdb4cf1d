// A source file as nvcc sees it: a copy with a plain name, whatever the file's own name is.
//
// idea    nvcc writes its input's name, with all links resolved, between double quotes into command
//         lines that a shell reads. The shell executes $(...) in such a name, and quotes and
//         fatbinary's commas break it, so the compiler sees only plain names. A #line restores the
//         file's own name in messages, __FILE__ and line tables. A judged text gets another name
//         instead, which reveals nothing about the file, but messages still name the file. If the
//         name's folder is not plain, a link in a plain folder leads to the headers next to the
//         file.
// watch   cicc escapes quotes and backslashes in the PTX's `.file`, which ptxas cannot read. Device
//         code whose file has such a name gets percent_coded() names, which the emulator decodes
//         (common/device/names.hpp).
// Tested by tests/plain_source_test.cpp and cli/tests/names_cli_test.cpp.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "grader/system/files.hpp"

namespace stepwise {

// Whether shells, make, the loader and nvcc's lists read `text` literally.
bool is_plain(std::string_view text);

// The folder for temporary files: TMPDIR, or /tmp if the name of that folder is not plain.
std::filesystem::path plain_temporary_path();

class plain_source {
 public:
  // `shown` names `file` in messages. `folder` has a plain name and must last as long as the names
  // in line tables should lead to headers next to the file.
  plain_source(const std::filesystem::path& file, const std::string& shown, std::string_view text,
               const std::filesystem::path& folder);
  // The compiler and the program know the text as `stand_in`, a plain path that reveals nothing
  // about the file. `stand_in_shown` is the same path as a #line gives it.
  plain_source(const std::filesystem::path& file, const std::string& shown, std::string_view text,
               const std::filesystem::path& folder, const std::filesystem::path& stand_in,
               const std::string& stand_in_shown);

  std::string path() const { return copy_.path() / "student.cu"; }
  // nvcc's flags, so that #include "..." finds the files next to the source.
  std::vector<std::string> flags() const;
  // The compiler's messages, with files named as the user gave them.
  std::string as_typed(std::string text) const;

 private:
  const std::filesystem::path file_;
  const std::string shown_;
  const std::string coded_, line_name_;  // the text's name in device code, and in a #line
  std::filesystem::path source_folder_;  // the file's folder, or the link to it
  const temporary_folder copy_;
};

// Whether `text`, a file's content, is UTF-16, which no compiler here reads.
bool is_utf16(std::string_view text);
std::string utf16_refusal(const std::string& shown);  // one sentence

}  // namespace stepwise
