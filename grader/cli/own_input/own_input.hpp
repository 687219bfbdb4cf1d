// Shared by the commands that make one call with the user's own input: reading the file, checking
// the output names, the call's time limit, and the document.
//
// Tested by cli/tests/own_input_test.cpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "grader/cli/context.hpp"
#include "grader/judge/one_call.hpp"
#include "grader/system/files.hpp"

namespace stepwise::cli {

// The arguments of `lab run`: the program, the user's input and the files to write.
struct own_input {
  std::string lab, file, step;
  std::optional<std::string> image;   // a picture to run on, instead of the lab's sizes
  std::optional<std::string> points;  // or a file of points
  std::string out;                    // result file; empty: none
  std::string stages;  // a folder for the reference's stages, the result and the difference
};
// Run the command with `image` or with `points`, and return the exit code.
int run_picture(context& c, const own_input& o);
int run_points(context& c, const own_input& o);

// The file's content. Throws failure(usage) if it is missing or has more than 2^31 - 1 bytes.
std::string read_input(const fs::path& file);

// Throws failure(usage): `l` takes no such input (`own_input` in lab.toml), but other labs do.
[[noreturn]] void refuse_own_input(const context& c, const lab& l, const std::string& kind,
                                   const std::string& what);

// Throws failure if writing would fail because the folder is missing or not writable, or if it
// would overwrite `input` or anything but a regular file.
void check_target(const std::string& option, const fs::path& file, const fs::path& input);

// Like check_target(), but for a folder, which is created if it is missing.
void check_target_folder(const std::string& option, const fs::path& folder);

// Makes a call of this size. Its time limit grows with the ratio of its work to that of the lab's
// largest check size.
one_call_report call_program(context& c, const lab& l, const problem& p, const subject& s,
                             const device_choice& device, const problem_call& call,
                             const lab_size& size);

// The keys that every kind of input shares. `written` is still empty.
json own_input_document(const lab& l, const subject& s, const device_choice& device);
// Adds the outcome and the written files.
void complete(json& document, const check_report& report, const std::vector<fs::path>& written);

// Shows whether the result is right, the files and the program's output. `remarks`
// come before the files, each with its mark: {"note", "..."}.
struct remark {
  std::string mark, text;
};
void show_own_result(context& c, const lab& l, const subject& s, const problem_call& call,
                     const check_report& report, const std::vector<remark>& remarks,
                     const std::vector<fs::path>& written);

}  // namespace stepwise::cli
