// Chooses each instruction's line and frames, and adds the counts of the machine code's line table.
#include "common/source_map/source_map.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "common/device/names.hpp"
#include "common/ptx/control_flow.hpp"
#include "common/source_map/accesses.hpp"

namespace stepwise::emulator {
namespace {

// Limits for names, because a few bytes of PTX can refer to the same name repeatedly. Longer paths
// count as unknown, and longer names are truncated. Lines and frames that no longer fit count as
// unknown, too.
constexpr std::size_t longest_path = 4096, longest_name = 1000;
constexpr std::size_t most_name_bytes = std::size_t{64} << 20;
constexpr std::size_t most_frames = 64;  // per chain; frames in the middle are left out

// Finds the lines and chains of a function, and stores each only once.
class line_finder {
 public:
  line_finder(const ptx::module& m, const ptx::body& body, source_map& out)
      : module_(m), body_(body), out_(out), known_(body.positions.size()) {
    find_outer();
  }

  // The line of a .loc record, and the frames inside it. The line is no_index if the record has no
  // line.
  std::pair<std::uint32_t, std::uint32_t> find(std::int32_t position) {
    if (position < 0) return {no_index, no_index};
    auto& known = known_[static_cast<std::size_t>(position)];
    if (!known) known = look_up(position);
    return *known;
  }

 private:
  static constexpr std::int32_t none = -1;

  // Equal names have the same number, so that long names are compared only once.
  struct source_file {
    std::string path;
    bool of_user = true;
    std::uint32_t number = 0;
  };
  struct function_name {
    std::string text;
    std::uint32_t number = 0;
  };

  // A record's chain goes from the outermost record to the record itself. `at` is the record in the
  // chain for whose line the record counts, and `inside` is the next record inwards.
  struct outer_line {
    std::int32_t at = none, inside = none;
    void pass(std::int32_t record, bool is_line) {
      if (at == none) {
        if (is_line) at = record;
      } else if (inside == none) {
        inside = record;
      }
    }
  };

  // The student's line is the outermost line in a user's file. Lines that the compiler generated
  // are skipped. A library's own kernel may have no line in a user's file, so its outermost line is
  // used. A record can be inlined only at an earlier record.
  void find_outer() {
    const auto count = static_cast<std::int32_t>(body_.positions.size());
    for (std::int32_t n = 0; n < count; ++n) {
      const ptx::source_position& p = body_.positions[static_cast<std::size_t>(n)];
      const bool has_caller = p.inlined_at >= 0 && p.inlined_at < n;
      const auto caller = static_cast<std::size_t>(has_caller ? p.inlined_at : 0);
      outer_line user = has_caller ? of_user_[caller] : outer_line();
      outer_line any = has_caller ? of_any_[caller] : outer_line();
      user.pass(n, p.line != 0 && file(p.file).of_user);
      any.pass(n, p.line != 0);
      of_user_.push_back(user);
      of_any_.push_back(any);
    }
  }

  std::pair<std::uint32_t, std::uint32_t> look_up(std::int32_t position) {
    const auto at = static_cast<std::size_t>(position);
    const outer_line& outer = of_user_[at].at != none ? of_user_[at] : of_any_[at];
    if (outer.at == none) return {no_index, no_index};
    const std::uint32_t line = line_index(outer.at);
    if (line == no_index) return {no_index, no_index};
    std::vector<std::int32_t> inner;  // from the innermost outwards
    if (outer.inside != none) {
      for (std::int32_t n = position; n != outer.inside && inner.size() + 1 < most_frames;)
        inner.push_back(std::exchange(n, body_.positions[static_cast<std::size_t>(n)].inlined_at));
      inner.push_back(outer.inside);
    }
    return {line, chain_index(inner)};
  }

  const source_file& file(std::uint32_t number) {
    const auto [at, is_new] = files_.try_emplace(number);
    if (is_new) {
      const auto path = module_.files.find(number);
      if (path != module_.files.end() && path->second.size() <= longest_path) {
        const std::filesystem::path named = decoded_path(path->second);
        at->second.path = named.lexically_normal().string();
      }
      at->second.of_user = is_users_file(at->second.path);
      at->second.number = number_of(at->second.path);
    }
    return at->second;
  }

  const function_name& function(std::string_view mangled) {
    const auto [at, is_new] = functions_.try_emplace(mangled.data());
    if (!is_new || mangled.empty()) return at->second;
    std::string& text = at->second.text;
    text = readable_name(mangled);
    // The compiler puts names with internal linkage into a namespace.
    constexpr std::string_view internal = "_INTERNAL_";
    const auto end = text.find("::");
    if (text.starts_with(internal) && end != std::string::npos) text.erase(0, end + 2);
    if (text.size() > longest_name) text.resize(longest_name);
    at->second.number = number_of(text);
    return at->second;
  }

  // 0 is not used.
  std::uint32_t number_of(const std::string& name) {
    return numbers_.try_emplace(name, static_cast<std::uint32_t>(numbers_.size() + 1))
        .first->second;
  }

  // Takes `bytes` bytes of the remaining room. Returns false if they do not fit.
  bool take(std::size_t bytes) {
    if (bytes > room_) return false;
    room_ -= bytes;
    return true;
  }

  // Records that differ only in their columns, or in the spelling of their path, share a line.
  std::uint32_t line_index(std::int32_t record) {
    const ptx::source_position& p = body_.positions[static_cast<std::size_t>(record)];
    const source_file& f = file(p.file);
    const auto [at, is_new] =
        line_index_.try_emplace({f.number, p.line}, static_cast<std::uint32_t>(out_.lines.size()));
    if (!is_new) return at->second;
    if (!take(sizeof(source_line) + f.path.size())) return at->second = no_index;
    out_.lines.push_back({f.path, p.line, f.of_user});
    return at->second;
  }

  // `records` go from the innermost outwards.
  std::uint32_t chain_index(const std::vector<std::int32_t>& records) {
    if (records.empty()) return no_index;
    std::vector<std::uint32_t> key;
    std::size_t bytes = 0;
    for (const std::int32_t n : records) {
      const ptx::source_position& p = body_.positions[static_cast<std::size_t>(n)];
      const source_file& f = file(p.file);
      const function_name& name = function(p.function);
      key.insert(key.end(), {name.number, f.number, p.line});
      bytes += sizeof(source_frame) + name.text.size() + f.path.size();
    }
    const auto [at, is_new] =
        chain_index_.try_emplace(std::move(key), static_cast<std::uint32_t>(out_.chains.size()));
    if (!is_new) return at->second;
    if (!take(bytes)) return at->second = no_index;
    std::vector<source_frame>& frames = out_.chains.emplace_back();
    for (auto n = records.rbegin(); n != records.rend(); ++n) {
      const ptx::source_position& p = body_.positions[static_cast<std::size_t>(*n)];
      const source_file& f = file(p.file);
      frames.push_back({function(p.function).text, {f.path, p.line, f.of_user}});
    }
    return at->second;
  }

  const ptx::module& module_;
  const ptx::body& body_;
  source_map& out_;
  std::vector<std::optional<std::pair<std::uint32_t, std::uint32_t>>> known_;
  std::vector<outer_line> of_user_, of_any_;  // by record
  std::unordered_map<std::uint32_t, source_file> files_;
  std::unordered_map<const char*, function_name> functions_;  // by address in the PTX text
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> line_index_;
  std::map<std::vector<std::uint32_t>, std::uint32_t> chain_index_;
  std::size_t room_ = most_name_bytes;
};

// Gives a line to the instructions that the compiler generated. They get the line of the next
// instruction in their block that has a line, because moved code usually prepares the code after
// it. At the end of a block, they get the line before them. In a block without lines, they get the
// line of the previous block in the text.
void estimate_lines(const control_flow& flow, std::vector<instruction_source>& instructions) {
  for (instruction_source& i : instructions) i.estimated = i.line == no_index;
  for (const basic_block& b : flow.blocks) {
    std::uint32_t next = no_index;
    for (std::uint32_t n = b.end; n-- > b.first;) {
      if (instructions[n].line == no_index) instructions[n].line = next;
      next = instructions[n].line;
    }
  }
  const auto first = std::find_if(instructions.begin(), instructions.end(),
                                  [](const auto& i) { return i.line != no_index; });
  if (first == instructions.end()) return;
  std::uint32_t before = first->line;  // used if the body begins with blocks without lines
  for (instruction_source& i : instructions) {
    if (i.line == no_index) i.line = before;
    before = i.line;
  }
}

// Whether the line table describes this function, which may be in another cubin or missing.
bool describes(const image::kernel_resources& machine_code, const ptx::body& body) {
  const auto& counts = machine_code.instructions_of_ptx_line;
  if (counts.empty() || body.instructions.empty()) return false;
  const auto first = counts.lower_bound(body.instructions.front().line);
  return first != counts.end() && first->first <= body.instructions.back().line;
}

}  // namespace

source_map::source_map(const ptx::module& m, const ptx::function& f,
                       const image::kernel_resources* machine_code) {
  const ptx::body& body = m.body_of(f);
  instructions.resize(body.instructions.size());
  line_finder finder(m, body, *this);
  knows_machine_code = machine_code != nullptr && describes(*machine_code, body);
  for (std::size_t n = 0; n < body.instructions.size(); ++n) {
    const ptx::instruction& i = body.instructions[n];
    std::tie(instructions[n].line, instructions[n].inner) = finder.find(i.position);
    if (!knows_machine_code) continue;
    const auto count = machine_code->instructions_of_ptx_line.find(i.line);
    if (count != machine_code->instructions_of_ptx_line.end()) {
      instructions[n].machine_instructions = count->second;
    }
  }
  const control_flow flow(body);
  estimate_lines(flow, instructions);
  const bool has_no_frame = f.is_entry && machine_code != nullptr && machine_code->frame_bytes == 0;
  find_accesses(m, body, flow, has_no_frame, *this);
}

std::string_view name_of(drop_reason reason) {
  switch (reason) {
    case drop_reason::same_address:
      return "same address";
    case drop_reason::unused:
      return "unused";
    case drop_reason::in_registers:
      return "in registers";
    case drop_reason::constant_bank:
      return "constant bank";
    case drop_reason::unknown:
      return "unknown";
  }
  return "";
}

namespace {

// Whether a folder around the file is a toolkit's include/, anywhere on this machine.
bool lies_in_toolkit(const std::filesystem::path& file) {
  std::filesystem::path folder = file.is_absolute() ? file.parent_path() : "";
  std::error_code none;
  for (int level = 0; level < 16 && folder.has_relative_path(); ++level) {
    if (std::filesystem::exists(folder / "cuda_runtime_api.h", none)) return true;
    folder = folder.parent_path();
  }
  return false;
}

}  // namespace

bool is_users_file(std::string_view path) {
  // A path's folders, each between slashes.
  const std::string all = "/" + std::filesystem::path(path).lexically_normal().string();
  const auto has = [&](std::string_view part) { return all.find(part) != std::string::npos; };
  const auto begins = [&](std::string_view part) { return all.starts_with(part); };
  constexpr std::string_view system[] = {"//usr/include/",   "//usr/lib/", "//usr/local/include/",
                                         "//usr/local/cuda", "//opt/cuda", "//opt/nvidia/"};
  if (std::any_of(std::begin(system), std::end(system), begins)) return false;
  // A toolkit may also be in .../targets/x86_64-linux/include/, in Python packages, or in a clone.
  constexpr std::string_view packages[] = {"/targets/x86_64-linux/",
                                           "/targets/sbsa-linux/",
                                           "/targets/aarch64-linux/",
                                           "/site-packages/nvidia/",
                                           "/dist-packages/nvidia/",
                                           "/.cuda/include/",
                                           "/lib/gcc/",
                                           "/lib/clang/"};
  if (std::any_of(std::begin(packages), std::end(packages), has)) return false;
  // The libraries' own folders: <cub/block/...>, <cuda/std/...>.
  constexpr std::string_view libraries[] = {"/cub/block/",
                                            "/cub/warp/",
                                            "/cub/thread/",
                                            "/cub/device/",
                                            "/cub/agent/",
                                            "/cub/detail/",
                                            "/cub/grid/",
                                            "/cub/util_",
                                            "/cub/iterator/",
                                            "/include/cccl/",
                                            "/include/cub/",
                                            "/include/thrust/",
                                            "/thrust/thrust/",
                                            "/thrust/detail/",
                                            "/thrust/iterator/",
                                            "/thrust/system/",
                                            "/cuda/std/",
                                            "/libcudacxx/",
                                            "/include/cooperative_groups/",
                                            "/include/cooperative_groups.h"};
  return std::none_of(std::begin(libraries), std::end(libraries), has) && !lies_in_toolkit(path);
}

std::string own_name(const source_frame& f) {
  const std::string_view readable = f.function;
  const bool of_library = !f.at.of_user;
  // The names of operators and lambdas contain characters that have other meanings here.
  constexpr std::string_view special[] = {"operator", "{", "(anonymous namespace)"};
  for (const std::string_view part : special)
    if (readable.find(part) != readable.npos) return std::string(readable);
  std::vector<std::string> parts(1);  // between "::"
  int depth = 0;
  for (std::size_t i = 0; i < readable.size(); ++i) {
    const char c = readable[i];
    if (c == '>') --depth;
    if (depth == 0 && readable.substr(i).starts_with("::")) {
      parts.emplace_back();
      ++i;
    } else if (depth == 0 && c == ' ') {
      parts.assign(1, "");  // what came before was the result
    } else if (!of_library || (depth == 0 && c != '<' && c != '>')) {
      parts.back() += c;
    }
    if (c == '<') ++depth;
  }
  std::string name;
  for (const std::string& part : parts)
    if (&part == &parts.back() || !part.starts_with('_')) name += (name.empty() ? "" : "::") + part;
  return depth == 0 && !parts.back().empty() ? name : std::string(readable);
}

}  // namespace stepwise::emulator
