// Text for terminals: widths, wrapping, escaping a student program's output, numbers with units.
//
// Tested by tests/report_test.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stepwise {

// Columns of `text` on a terminal: its code points, without escape sequences.
std::size_t display_width(std::string_view text);

// At most `width` columns; a longer text ends with `mark`. `text` has no escape sequences.
std::string shortened(std::string_view text, std::size_t width, std::string_view mark = "...");

// Lines of at most `width` columns, split at spaces. Longer words are kept whole.
std::vector<std::string> wrapped(std::string_view text, std::size_t width);

// Makes untrusted text harmless and limits it. Control characters, escape sequences, invalid UTF-8
// and direction overrides become visible (\x1b), and tabs become spaces. Keeps at most `lines`
// lines (the first and last ones), each at most `columns` columns.
std::vector<std::string> escaped_lines(std::string_view text, std::size_t lines,
                                       std::size_t columns);
// Makes a name or a single line harmless in the same way.
std::string escaped_name(std::string_view text, std::size_t columns = 400);
void escape_name(std::string& text);

// Replaces every `from`, which must not be empty, with `to`.
void replace_all(std::string& text, std::string_view from, std::string_view to);

// "a, b, c" if `between` is ", ".
std::string joined(const std::vector<std::string>& words, std::string_view between);

std::string count_text(double count);    // 950, 12.3 k, 4.56 M, 7.89 G
std::string bytes_text(double bytes);    // 512 B, 4.19 MB (decimal units, as in GB/s)
std::string time_text(double time_ms);   // 12.3 us, 4.56 ms, 7.89 s
std::string energy_text(double joules);  // 12.3 uJ, 4.56 mJ, 7.89 J
std::string ratio_text(double ratio);    // 1.07x, 12.3x
std::string rate_text(double gb_per_s);  // 4312 GB/s, 35.2 GB/s
// 52.4 TFLOP/s (for "flop"), 812 G additions/s
std::string operations_text(double per_s, std::string_view unit);

}  // namespace stepwise
