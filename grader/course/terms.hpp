// The glossary: labs/glossary.md, term by term, as labs/course reads it.
//
// idea    A term is found by its name without case, spaces and hyphens, in singular or plural.
// Tested by tests/terms_test.cpp. labs/tests/glossary_test.cpp tests that terms refer to existing
// ones.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace stepwise {

// A place that explains a term: a section of a handout, and the step that shows it.
struct taught_place {
  std::string lab;     // "transpose"; for another text, its title
  std::string target;  // "transpose/README.md#banks", from the glossary's folder
  std::string step;    // "06_padded"; may be empty
};

struct term {
  std::string name, group;
  std::vector<std::string> aliases;
  std::vector<std::string> text;  // lines of prose; empty lines separate paragraphs
  std::vector<std::string> picture;
  std::vector<taught_place> taught;
  std::vector<std::string> related;  // names of terms, or of the profilers' metrics
};

std::vector<term> load_terms(const std::filesystem::path& build);

// "Bank-Conflicts" -> "bankconflict": equal for all spellings of a name.
std::string term_key(std::string_view name);

// The term with this name or alias. Null if there is none.
const term* find_term(const std::vector<term>& all, std::string_view name);

// The name as the user types it: "bank-conflict".
std::string typed_name(std::string_view name);

// At most `most` names close to `given`, the nearest first.
std::vector<std::string> near_names(std::string_view given, const std::vector<std::string>& names,
                                    std::size_t most = 3);

}  // namespace stepwise
