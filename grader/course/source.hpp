// The text of a step: its header fields, its skeleton, and its code without markers.
//
// idea    The student writes the code between `//> todo: what to do` and `//<`. All student files
//         are derived from the solution file, so the files cannot drift apart.
// Tested by tests/source_test.cpp.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace stepwise {

// The text without spaces, tabs and carriage returns at both ends.
std::string_view trimmed(std::string_view text);

// The lines of a text without line ends. A last line without a line end counts, too.
std::vector<std::string> split_lines(std::string_view text);

// The fields of a step's header comment ("idea", "watch", "needs", "source", and "" for the first
// line's text after the colon), with continuation lines joined by spaces.
std::map<std::string, std::string> header_fields(std::string_view text);

// The number of lines in the leading comment.
std::size_t header_lines(const std::vector<std::string>& lines);

// The step's code without marker lines; `numbers[i]` is line i's number in the file.
struct clean_source {
  std::vector<std::string> lines;
  std::vector<int> numbers;
};
clean_source without_markers(std::string_view text);

// The skeleton: every region becomes one `// TODO: text` line with the marker's indentation, the
// first line names `origin`, and the header loses `watch` and `gain`, which reveal the step's
// results. Throws failure(ours), naming the line, if a marker is unpaired or there is no region.
std::string derive_skeleton(std::string_view text, const std::string& origin);

// The `// TODO: text` lines of a source, as derive_skeleton writes them.
struct todo {
  std::size_t line = 0;  // from 1
  std::string text;
};
std::vector<todo> find_todos(std::string_view text);

// Statements that compile but are probably not meant, which nvcc does not warn about in kernels: an
// assignment as the condition of an `if`, and a `for (...);` whose body follows. `text` is the
// warning.
std::vector<todo> suspicious_statements(std::string_view source);

// Features in this text that run in practice mode but that grading refuses, as listed in GOALS.md:
// "texture objects". The search is for words, so the result is only a hint. `may_copy_to_host`: in
// labs whose arrays are in host memory.
std::vector<std::string> refused_when_graded(std::string_view text, bool may_copy_to_host);

}  // namespace stepwise
