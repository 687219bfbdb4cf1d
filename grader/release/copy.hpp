// Derives the tree of a student copy from the committed tree.
//
// idea    A file is in the copy only because student.txt names it. The files that students edit are
//         derived again from the skeletons, so that none of an instructor's own work is included.
//         solutions/ is replaced by names, skeletons and the modelled times that goals compare with
//         (course/given.hpp).
// Tested by tests/release_test.cpp. tests/search_copy tests that a copy has no text of the
// solutions.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "grader/course/given.hpp"
#include "grader/release/plan.hpp"

namespace stepwise {

// The files of `tree`, relative to it and sorted, that `list` (student.txt) names if the labs
// `open` of `labs` are open. Throws failure(ours) if a pattern of the list matches nothing.
std::vector<fs::path> student_files(const fs::path& tree, const std::string& list,
                                    const std::vector<lab>& labs,
                                    const std::vector<released_lab>& open);

// Copies and derives. `tree` is the committed course with `labs`, `to` an empty folder, and `times`
// has each open lab's times. Throws failure(ours) if the course's own files are malformed.
void make_student_tree(const fs::path& tree, const fs::path& to, const std::vector<lab>& labs,
                       const release_plan& plan, const std::string& day,
                       const std::map<std::string, given_times>& times);

}  // namespace stepwise
