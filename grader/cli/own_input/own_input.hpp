// What commands share that make one call with the user's own input: reading the file, names that
// are to be written, the time that the call may take, the document.
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

// Of `lab run`: the program, one input of the user's, and what is to be kept.
struct own_input {
  std::string lab, file, step;
  std::optional<std::string> image;   // a picture to run on, instead of the lab's sizes
  std::optional<std::string> points;  // or a file of points
  std::string out;                    // a file for the result; empty: none
  std::string stages;  // a folder for the reference's stages, the result and the difference
};
// The command with `image`, and with `points`; the exit code.
int run_picture(context& c, const own_input& o);
int run_points(context& c, const own_input& o);

// The file's content; failure(usage) if there is none, or more than 2^31 - 1 bytes.
std::string read_input(const fs::path& file);

// Throws failure(usage): `l` takes no such input (an `own_input` of lab.toml), and which labs do.
[[noreturn]] void refuse_own_input(const context& c, const lab& l, const std::string& kind,
                                   const std::string& what);

// failure where writing would fail, or overwrite `input` or something that is no file: a folder
// that is not there, or not ours.
void check_target(const std::string& option, const fs::path& file, const fs::path& input);

// The same for a folder, which is made if it is missing.
void check_target_folder(const std::string& option, const fs::path& folder);

// A call of this size on the program, which gets as much more time as it has more work than the
// lab's largest check size.
one_call_report call_program(context& c, const lab& l, const problem& p, const subject& s,
                             const device_choice& device, const problem_call& call,
                             const lab_size& size);

// The keys that are the same for every kind of input; `written` is empty yet.
json own_input_document(const lab& l, const subject& s, const device_choice& device);
// The outcome and what was written.
void complete(json& document, const check_report& report, const std::vector<fs::path>& written);

// For people: right or wrong, and the files; ends with what the program printed. `remarks` come
// before the files, each with its mark: {"note", "..."}.
struct remark {
  std::string mark, text;
};
void show_own_result(context& c, const subject& s, const problem_call& call,
                     const check_report& report, const std::vector<remark>& remarks,
                     const std::vector<fs::path>& written);

}  // namespace stepwise::cli
