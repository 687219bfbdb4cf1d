// The tree of a student copy, made of the committed one.
//
// idea    A file is in the copy because student.txt names it, never because nobody thought of it.
//         What students write in is derived again from the skeletons, so that nothing of an
//         instructor's own work goes along; in place of solutions/ come names, skeletons and the
//         modelled times that goals compare with (course/given.hpp).
// Tested by tests/release_test.cpp; that nothing of the solutions is in a copy by
// tests/search_copy.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "grader/course/given.hpp"
#include "grader/release/plan.hpp"

namespace stepwise {

// The files of `tree`, from there and sorted, that `list` (student.txt) names where `open` of
// `labs` are open. failure(ours) if a pattern of it matches nothing.
std::vector<fs::path> student_files(const fs::path& tree, const std::string& list,
                                    const std::vector<lab>& labs,
                                    const std::vector<released_lab>& open);

// Copies and derives. `tree` is the course as it was committed, with `labs`; `to` is an empty
// folder, `times` are those of each open lab. failure(ours) where the course's own files are
// malformed.
void make_student_tree(const fs::path& tree, const fs::path& to, const std::vector<lab>& labs,
                       const release_plan& plan, const std::string& day,
                       const std::map<std::string, given_times>& times);

}  // namespace stepwise
