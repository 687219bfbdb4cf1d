// Makes texts that students influenced safe for each format.
//
// idea    The first step is the same for all formats: invalid UTF-8, control characters, escape
//         sequences and direction overrides become visible, and only a limited head and tail are
//         kept. Then each format's own syntax is escaped. No output line begins with such a text or
//         contains "##[", so GitHub finds no workflow command.
// source  CSV: RFC 4180, and OWASP's list of signs that begin a formula; XML 1.0, section 2.2;
//         GitHub's runner (ActionCommand.cs): "::" after a line's white space, "##[" anywhere.
// Tested by tests/publish_test.cpp.
#pragma once

#include <string>
#include <string_view>

namespace stepwise::publish {

// Harmless text of at most `lines` lines of at most `columns` columns, joined by line feeds.
std::string harmless(std::string_view text, std::size_t lines = 40, std::size_t columns = 400);
// Harmless text of one line.
std::string harmless_line(std::string_view text, std::size_t columns = 400);

// Harmless text for XML or HTML content or a quoted attribute. Line feeds become &#10;.
std::string xml_text(std::string_view text, std::size_t lines = 40, std::size_t columns = 400);

// A CSV cell with its quotes, in one line, which no spreadsheet computes.
std::string csv_cell(std::string_view text);

// Harmless text for a JSON document. Line feeds are escaped as in JSON.
std::string json_string(std::string_view text);

// Harmless text for terminals and logs. Every line begins with "| ".
std::string quoted_lines(std::string_view text, std::string_view indent);

}  // namespace stepwise::publish
