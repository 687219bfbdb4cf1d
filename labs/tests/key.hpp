// The answer key of a lab, solutions/<lab>/answers.md, and the figures in it that are checked.
//
// idea    "### R3 title (2 points)" begins an answer. A block ```checked after it has a line for
//         each figure: `4 * 2^24 / gpu(dram_copy) = 15.6 us`. The right side is also in the
//         answer's text. The left side is arithmetic with these sources:
//           gpu(NAME)                 a figure of common/gpus/h200.measured.jsonl
//           time(STEP, SIZE), warm()  time of a step or baseline, cold or warm: measured/h200.jsonl
//           modelled(STEP, SIZE)      measured/h200.modelled.jsonl
//           part(NAME)                of `lab limits`: measured/h200.limits.jsonl
//           ncu(STEP, SIZE, COUNT)    of all kernels: measured/h200.counters.jsonl
//           run(STEP, SIZE, FIELD)    of all kernels of `lab run --counters`, or of the kernel that
//                                     is named after it: shared_load.wavefronts
//           line(STEP, SIZE, PART, FIELD)  the field of the source lines that have PART
//           ptx(STEP, FIELD)          registers, shared_bytes of the largest kernel; of its
//                                     innermost loop with most FMAs: loop_instructions, loop_fma
//           blocks(THREADS, REGISTERS, SHARED_BYTES)  that a multiprocessor of an H200 holds
//           blocks_of(GPU, ...)       the blocks of another GPU of common/gpus
//           swept(NAME, FIELD, VALUES)  of `lab dev sweep --record NAME`,
//           measured/h200.sweeps.jsonl:
//                                     time, registers, occupancy_percent, spill_bytes, counted
//           log2, sqrt, floor, ceil, min, max         of numbers
//         The left side is in seconds, bytes and bytes per second. The right side has its own unit:
//         us, GB/s, %, x, ... A figure is right if it is the rounded left side. Handouts have such
//         lines too, in comments: <!-- checked ... -->.
// Tested by key_test.cpp.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace stepwise {

struct checked_figure {
  std::string expression, literal;
  std::string where;  // "answers.md:12"
};

struct key_answer {
  std::string id, title, section;
  int points = 0;
  std::string text;  // without the checked block
  std::vector<checked_figure> figures;
};

// Throws failure(ours) with origin and line for malformed text.
std::vector<key_answer> parse_key(std::string_view text, const std::string& origin);

// The figures in the comments <!-- checked ... --> of a page. Throws as parse_key does.
std::vector<checked_figure> figures_in_comments(std::string_view text, const std::string& origin);

// Maps the name of a source to its function, which gets the words between the parentheses.
using figure_sources =
    std::map<std::string, std::function<double(const std::vector<std::string>&)>>;

// Throws failure(ours), which begins with `where`, for a syntax error or an unknown name.
double value_of(std::string_view expression, const figure_sources& sources,
                const std::string& where);

// True if `literal` is the value, rounded to the literal's digits. Throws for an unknown unit.
bool is_rounded(double value, std::string_view literal, const std::string& where);

// The sources above for one lab of the clone at `root`, built in `build`.
figure_sources sources_of(const std::filesystem::path& root, const std::filesystem::path& build,
                          const std::string& lab);

}  // namespace stepwise
