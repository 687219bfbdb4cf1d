#include "common/emulator/profile/source_map.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "common/device/names.hpp"
#include "common/emulator/profile/accesses.hpp"
#include "common/emulator/profile/control_flow.hpp"

namespace stepwise::emulator {
namespace {

// Lines and chains of a function, each kept once.
class line_finder {
 public:
  line_finder(const ptx::module& m, const ptx::body& body, source_map& out)
      : module_(m), body_(body), out_(out), known_(body.positions.size()) {}

  // The line of a .loc record, and the frames inside it. no_index for the line if it has none.
  std::pair<std::uint32_t, std::uint32_t> find(std::int32_t position) {
    if (position < 0) return {no_index, no_index};
    auto& known = known_[static_cast<std::size_t>(position)];
    if (!known) known = look_up(position);
    return *known;
  }

 private:
  struct source_file {
    std::string path;
    bool of_user = true;
  };

  std::pair<std::uint32_t, std::uint32_t> look_up(std::int32_t position) {
    // From the innermost record to the outermost; a chain is no longer than there are records.
    std::vector<const ptx::source_position*> chain;
    for (std::int32_t n = position; n >= 0 && chain.size() < body_.positions.size();) {
      chain.push_back(&body_.positions[static_cast<std::size_t>(n)]);
      n = chain.back()->inlined_at;
    }
    std::reverse(chain.begin(), chain.end());
    // The student's line is the outermost that is the user's; a line that nobody wrote is passed
    // over. A library's own kernel may have none: then it is the outermost that there is.
    const auto is_line = [](const ptx::source_position* p) { return p->line != 0; };
    auto outer = std::find_if(chain.begin(), chain.end(), [&](const ptx::source_position* p) {
      return is_line(p) && file(p->file).of_user;
    });
    if (outer == chain.end()) outer = std::find_if(chain.begin(), chain.end(), is_line);
    if (outer == chain.end()) return {no_index, no_index};
    std::vector<source_frame> inner;
    for (auto at = outer + 1; at != chain.end(); ++at) {
      inner.push_back({function_name((*at)->function), line_of(**at)});
    }
    return {line_index(line_of(**outer)), chain_index(std::move(inner))};
  }

  source_line line_of(const ptx::source_position& p) {
    const source_file& f = file(p.file);
    return {f.path, p.line, f.of_user};
  }

  const source_file& file(std::uint32_t number) {
    const auto [at, is_new] = files_.try_emplace(number);
    if (is_new) {
      const auto path = module_.files.find(number);
      if (path != module_.files.end()) {
        at->second.path = std::filesystem::path(path->second).lexically_normal().string();
      }
      at->second.of_user = is_users_file(at->second.path);
    }
    return at->second;
  }

  const std::string& function_name(std::string_view mangled) {
    const auto [at, is_new] = functions_.try_emplace(mangled);
    if (is_new && !mangled.empty()) {
      at->second = readable_name(mangled);
      // What has internal linkage is in a namespace of the compiler's.
      constexpr std::string_view internal = "_INTERNAL_";
      const auto end = at->second.find("::");
      if (at->second.starts_with(internal) && end != std::string::npos)
        at->second.erase(0, end + 2);
    }
    return at->second;
  }

  std::uint32_t line_index(source_line line) {
    const auto key = std::make_pair(line.file, line.line);
    const auto [at, is_new] =
        line_index_.try_emplace(key, static_cast<std::uint32_t>(out_.lines.size()));
    if (is_new) out_.lines.push_back(std::move(line));
    return at->second;
  }

  std::uint32_t chain_index(std::vector<source_frame> inner) {
    if (inner.empty()) return no_index;
    std::string key;
    for (const source_frame& f : inner) {
      key += f.function + '\n' + f.at.file + '\n' + std::to_string(f.at.line) + '\n';
    }
    const auto [at, is_new] =
        chain_index_.try_emplace(std::move(key), static_cast<std::uint32_t>(out_.chains.size()));
    if (is_new) out_.chains.push_back(std::move(inner));
    return at->second;
  }

  const ptx::module& module_;
  const ptx::body& body_;
  source_map& out_;
  std::vector<std::optional<std::pair<std::uint32_t, std::uint32_t>>> known_;
  std::unordered_map<std::uint32_t, source_file> files_;
  std::unordered_map<std::string_view, std::string> functions_;
  std::map<std::pair<std::string, std::uint32_t>, std::uint32_t> line_index_;
  std::unordered_map<std::string, std::uint32_t> chain_index_;
};

// Instructions that the compiler made get the line of the next one in their block that has one:
// what was moved there prepares what follows. At a block's end it is the line before, and in a
// block without lines that of the block before it in the text.
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
  std::uint32_t before = first->line;  // for a body that begins with blocks without lines
  for (instruction_source& i : instructions) {
    if (i.line == no_index) i.line = before;
    before = i.line;
  }
}

// Whether the table says something of this function: it may lie in another cubin, or have been
// left out of it.
bool tells_of(const image::kernel_resources& machine_code, const ptx::body& body) {
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
  knows_machine_code = machine_code != nullptr && tells_of(*machine_code, body);
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

bool is_users_file(std::string_view path) {
  // A path's folders, each between slashes.
  const std::string all = "/" + std::filesystem::path(path).lexically_normal().string();
  const auto has = [&](std::string_view part) { return all.find(part) != std::string::npos; };
  const auto begins = [&](std::string_view part) { return all.starts_with(part); };
  constexpr std::string_view system[] = {"//usr/include/",   "//usr/lib/", "//usr/local/include/",
                                         "//usr/local/cuda", "//opt/cuda", "//opt/nvidia/"};
  if (std::any_of(std::begin(system), std::end(system), begins)) return false;
  // A toolkit elsewhere: .../targets/x86_64-linux/include/, and in Python's packages.
  constexpr std::string_view packages[] = {"/targets/x86_64-linux/",
                                           "/targets/sbsa-linux/",
                                           "/targets/aarch64-linux/",
                                           "/site-packages/nvidia/",
                                           "/dist-packages/nvidia/",
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
                                            "/thrust/detail/",
                                            "/thrust/iterator/",
                                            "/thrust/system/",
                                            "/cuda/std/",
                                            "/libcudacxx/",
                                            "/include/cooperative_groups/",
                                            "/include/cooperative_groups.h"};
  return std::none_of(std::begin(libraries), std::end(libraries), has);
}

}  // namespace stepwise::emulator
