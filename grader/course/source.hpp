// The text of a step: its header fields, its skeleton, and how it looks without markers.
//
// idea    Between `//> todo: what to do` and `//<` stands what the student writes. Everything that
//         a student gets is derived from the solution file, so the two cannot drift apart.
// Tested by tests/source_test.cpp.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace stepwise {

// Without blanks, tabs and carriage returns around it.
std::string_view trimmed(std::string_view text);

// Lines without their ends; a last line without an end counts too.
std::vector<std::string> split_lines(std::string_view text);

// The fields of a step's header comment ("idea", "watch", "needs", "source", and "" for the first
// line's text after the colon), continuation lines joined by blanks.
std::map<std::string, std::string> header_fields(std::string_view text);

// Lines of the leading comment, up to the first that is none.
std::size_t header_lines(const std::vector<std::string>& lines);

// The step's code without marker lines; `numbers[i]` is line i's number in the file.
struct clean_source {
  std::vector<std::string> lines;
  std::vector<int> numbers;
};
clean_source without_markers(std::string_view text);

// The skeleton: every region becomes one `// TODO: text` line with the marker's indentation; the
// first line names `origin`; the header loses `watch` and `gain`, which say what the step turns
// out to be like. Throws failure(ours) naming the line if a marker is unpaired, and if there is no
// region at all.
std::string derive_skeleton(std::string_view text, const std::string& origin);

// The `// TODO: text` lines of a source, as derive_skeleton writes them.
struct todo {
  std::size_t line = 0;  // from 1
  std::string text;
};
std::vector<todo> find_todos(std::string_view text);

// What this text names that runs in practice and is refused when it is graded (GOALS.md lists it):
// "texture objects". A hint, by words: nothing is decided by it.
std::vector<std::string> refused_when_graded(std::string_view text);

}  // namespace stepwise
