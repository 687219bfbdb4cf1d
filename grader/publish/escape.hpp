// Texts that students influenced, made safe for each format.
//
// idea    One step is common: bytes that are no UTF-8, control characters, escape sequences and
//         direction overrides become visible, length is capped, head and tail are kept. Then each
//         format's own syntax is escaped. No line of an output begins with such a text, and none
//         holds "##[": what GitHub takes for a workflow command stands nowhere.
// source  CSV: RFC 4180, and OWASP's list of what spreadsheets take for a formula; XML 1.0, section
//         2.2; GitHub's runner (ActionCommand.cs): "::" after a line's white space, "##[" anywhere.
// Tested by tests/publish_test.cpp.
#pragma once

#include <string>
#include <string_view>

namespace stepwise::publish {

// At most `lines` lines of at most `columns` columns, joined by line feeds.
std::string harmless(std::string_view text, std::size_t lines = 40, std::size_t columns = 400);
// The same in one line.
std::string harmless_line(std::string_view text, std::size_t columns = 400);

// Harmless, and for the text or a quoted attribute of XML or HTML; line feeds are &#10;.
std::string xml_text(std::string_view text, std::size_t lines = 40, std::size_t columns = 400);

// A cell of CSV with its quotes; nothing a spreadsheet would compute. One line.
std::string csv_cell(std::string_view text);

// Text in a JSON document: harmless, line feeds are JSON's.
std::string json_string(std::string_view text);

// For terminals and logs: every line begins with "| ".
std::string quoted_lines(std::string_view text, std::string_view indent);

}  // namespace stepwise::publish
