// The glossary: labs/glossary.md, term by term, as labs/course reads it.
//
// idea    A term is found by what is left of a name without case, spaces and hyphens, in singular
// or
//         plural.
// Tested by tests/terms_test.cpp; that the file's terms refer to what exists by
// labs/tests/glossary_test.cpp.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace stepwise {

// Where a term is explained: a section of a handout, and the step that shows it.
struct taught_place {
  std::string lab;     // "transpose"; of another text: its words
  std::string target;  // "transpose/README.md#banks", from the glossary's folder
  std::string step;    // "06_padded"; may be empty
};

struct term {
  std::string name, group;
  std::vector<std::string> aliases;
  std::vector<std::string> text;  // lines of prose; an empty one divides paragraphs
  std::vector<std::string> picture;
  std::vector<taught_place> taught;
  std::vector<std::string> related;  // names of terms, or of the profilers' metrics
};

std::vector<term> load_terms(const std::filesystem::path& build);

// "Bank-Conflicts" -> "bankconflict": what two spellings of one name have in common.
std::string term_key(std::string_view name);

// The term of that name or alias; null if there is none.
const term* find_term(const std::vector<term>& all, std::string_view name);

// "bank-conflict", as it is typed.
std::string typed_name(std::string_view name);

// Names close to `given`, the nearest first, at most `most`.
std::vector<std::string> near_names(std::string_view given, const std::vector<std::string>& names,
                                    std::size_t most = 3);

}  // namespace stepwise
