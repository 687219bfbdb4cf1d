// Parses ncu's source page by its column titles.
#include "grader/validation/ncu_source.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <span>

#include "grader/system/failure.hpp"

namespace stepwise {
namespace {

struct stall_column {
  const char* title;
  stall of;
};
constexpr stall_column stall_columns[] = {{"stall_long_sb", stall::memory_dependency},
                                          {"stall_short_sb", stall::shared_dependency},
                                          {"stall_wait", stall::execution_dependency},
                                          {"stall_dispatch", stall::execution_dependency},
                                          {"stall_barrier", stall::synchronization},
                                          {"stall_membar", stall::synchronization},
                                          {"stall_lg", stall::memory_throttle},
                                          {"stall_mio", stall::memory_throttle},
                                          {"stall_drain", stall::memory_throttle},
                                          {"stall_math", stall::pipe_busy},
                                          {"stall_no_inst", stall::instruction_fetch},
                                          {"stall_branch_resolving", stall::instruction_fetch},
                                          {"stall_not_selected", stall::not_selected}};

// Opcodes (up to the first dot) of machine instructions for whose results the short scoreboard
// waits.
constexpr std::string_view special_opcodes[] = {"MUFU", "POPC", "FLO", "BREV"};
constexpr std::string_view shared_opcodes[] = {"LDS", "LDSM", "ATOMS", "SHFL", "REDUX"};

bool is_one_of(std::string_view opcode, std::span<const std::string_view> all) {
  return std::ranges::find(all, opcode) != all.end();
}

// "@!P0  LDG.E R0, desc[UR8][R2.64]" is LDG.
std::string_view opcode_of(std::string_view instruction) {
  const auto skip_spaces = [&] {
    instruction.remove_prefix(std::min(instruction.find_first_not_of(' '), instruction.size()));
  };
  skip_spaces();
  if (instruction.starts_with('@')) {
    instruction.remove_prefix(std::min(instruction.find(' '), instruction.size()));
    skip_spaces();
  }
  return instruction.substr(0, instruction.find_first_of(" ."));
}

// The fields of a row. All are quoted, and quotes within the second field, the source text, are not
// escaped. `columns` is their number; 0: any number. Empty for any other line.
std::vector<std::string> row_fields(std::string_view line, std::size_t columns) {
  if (line.size() < 2 || line.front() != '"' || line.back() != '"') return {};
  line = line.substr(1, line.size() - 2);
  std::vector<std::string> fields;
  for (;;) {
    const auto at = line.find("\",\"");
    fields.emplace_back(line.substr(0, at));
    if (at == line.npos) break;
    line.remove_prefix(at + 3);
  }
  while (columns > 2 && fields.size() > columns) {
    fields[1] += "\",\"" + fields[2];
    fields.erase(fields.begin() + 2);
  }
  return fields;
}

double number_in_row(const std::string& text) {
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;  // "-": no value
}

class source_page {
 public:
  void take(std::string_view line);
  std::vector<std::vector<ncu_line>> launches;
  bool is_one = false;

 private:
  void begin_file(const std::string& path);
  void take_line(const std::vector<std::string>& fields);
  void take_instruction(const std::vector<std::string>& fields);
  double value(const std::vector<std::string>& fields, const char* title) const {
    const auto at = columns_.find(title);
    return at == columns_.end() ? 0 : number_in_row(fields[at->second]);
  }
  std::string words(const std::vector<std::string>& fields, const char* title) const {
    const auto at = columns_.find(title);
    return at == columns_.end() ? std::string() : fields[at->second];
  }
  std::uint64_t whole(const std::vector<std::string>& fields, const char* title) const {
    return static_cast<std::uint64_t>(std::llround(std::max(0.0, value(fields, title))));
  }

  std::map<std::string, std::size_t, std::less<>> columns_;
  std::size_t width_ = 0;
  std::string path_;
  std::vector<std::string> paths_;  // in this launch
};

// A launch lists each of its files once.
void source_page::begin_file(const std::string& path) {
  if (launches.empty() || std::ranges::find(paths_, path) != paths_.end()) {
    launches.emplace_back();
    paths_.clear();
  }
  paths_.push_back(path_ = path);
}

void source_page::take(std::string_view line) {
  const std::vector<std::string> head = row_fields(line, 0);
  if (head.size() < 2) return;
  if (head[0] == "File Path" || head[0] == "File Name") return begin_file(head[1]);
  if (head[0] == "Line No") {
    is_one = true;
    columns_.clear();
    width_ = head.size();
    for (std::size_t n = 2; n < head.size(); ++n) columns_.emplace(head[n], n);
    return;
  }
  if (columns_.empty() || launches.empty()) return;
  const std::vector<std::string> fields = row_fields(line, width_);
  if (fields.size() != width_) return;
  if (!fields[0].empty())
    take_line(fields);
  else if (!launches.back().empty())
    take_instruction(fields);
}

void source_page::take_line(const std::vector<std::string>& fields) {
  ncu_line l;
  l.path = path_;
  l.line = static_cast<int>(number_in_row(fields[0]));
  l.text = fields[1];
  l.instructions = value(fields, "Instructions Executed");
  const auto lanes = whole(fields, "Predicated-On Thread Instructions Executed");
  l.counts.instructions[static_cast<int>(pipe::other)] = {whole(fields, "Instructions Executed"),
                                                          lanes};
  for (const stall_column& s : stall_columns)
    l.samples[static_cast<std::size_t>(s.of)] += value(fields, s.title);
  launches.back().push_back(std::move(l));
}

// Takes one instruction of the machine code. An access without an active lane is not a request.
void source_page::take_instruction(const std::vector<std::string>& fields) {
  const std::string space = words(fields, "Address Space"),
                    does = words(fields, "Access Operation");
  const std::uint64_t executed = whole(fields, "Instructions Executed"),
                      lanes = whole(fields, "Predicated-On Thread Instructions Executed");
  ncu_line& line = launches.back().back();
  const std::string instruction = words(fields, "Source");
  const std::string_view opcode = opcode_of(instruction);
  line.has_machine_code = true;
  if (is_one_of(opcode, special_opcodes)) line.special += static_cast<double>(executed);
  if (is_one_of(opcode, shared_opcodes)) line.shared += static_cast<double>(executed);
  profile_counts& c = line.counts;
  if (space == "Global") {
    sector_counts s;
    s.requests = std::min(executed, whole(fields, "L1 Tag Requests Global"));
    s.lanes = lanes;
    s.sectors = whole(fields, "L2 Theoretical Sectors Global");
    s.ideal_sectors = whole(fields, "L2 Theoretical Sectors Global Ideal");
    (does == "Load" ? c.global_load : does == "Store" ? c.global_store : c.global_atomic) += s;
  } else if (space == "Shared") {
    wavefront_counts w;
    w.wavefronts = whole(fields, "L1 Wavefronts Shared");
    w.ideal_wavefronts = whole(fields, "L1 Wavefronts Shared Ideal");
    w.requests = std::min(executed, w.ideal_wavefronts);
    w.lanes = lanes;
    (does == "Load" ? c.shared_load : does == "Store" ? c.shared_store : c.shared_atomic) += w;
  }
}

}  // namespace

std::vector<std::vector<ncu_line>> parse_ncu_source(std::string_view text) {
  source_page page;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    page.take(line);
    at = end + 1;
  }
  if (!page.is_one && text.find("\"File") != text.npos)
    throw failure(exit_code::environment, "ncu's source page has no table of lines");
  return page.launches;
}

}  // namespace stepwise
