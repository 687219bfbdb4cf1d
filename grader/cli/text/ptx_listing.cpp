// Sorts ops by source line, joins machine code to them, and counts each loop's ops by kind.
#include "grader/cli/text/ptx_listing.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <numeric>
#include <set>
#include <unordered_map>

#include "common/device/names.hpp"
#include "common/ptx/control_flow.hpp"
#include "common/ptx/traits.hpp"

namespace stepwise::cli {
namespace {

using emulator::access_role;
using emulator::no_index;

// The kinds, in display order.
constexpr std::array kinds = {
    "FMA",         "FP32",          "FP64",       "half",         "tensor",
    "special",     "integer",       "conversion", "load global",  "load shared",
    "load local",  "load constant", "load",       "store global", "store shared",
    "store local", "store",         "atomic",     "async copy",   "warp",
    "barrier",     "control",       "move",       "parameter",    "other"};

std::string access_kind(const ptx::instruction& i, const std::string& verb) {
  switch (ptx::space_of(i)) {
    case ptx::state_space::param:
      return "parameter";
    case ptx::state_space::global:
      return verb + " global";
    case ptx::state_space::shared:
      return verb + " shared";
    case ptx::state_space::local:
      return verb + " local";
    case ptx::state_space::constant:
      return verb + " constant";
    default:
      return verb;
  }
}

std::uint32_t access_bytes(const ptx::instruction& i) {
  if (i.modifiers.empty()) return 0;
  std::uint32_t bytes = ptx::bytes_of(ptx::type_of(i.modifiers.back()));
  if (ptx::has_modifier(i, "v2")) bytes *= 2;
  if (ptx::has_modifier(i, "v4")) bytes *= 4;
  if (ptx::has_modifier(i, "v8")) bytes *= 8;
  return bytes;
}

// "_Z6kernelPf_param_0" becomes "param_0", and the mangled name of a variable becomes its last
// part.
std::string short_names(std::string_view text, const std::string& kernel) {
  const auto is_name = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$';
  };
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (!is_name(text[at])) {
      const char c = text[at++];
      const bool is_blank = c == ' ' || c == '\t';
      if (!is_blank) out += c;
      if (is_blank && !out.empty() && out.back() != ' ') out += ' ';
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && is_name(text[end])) ++end;
    const std::string word(text.substr(at, end - at));
    at = end;
    if (word.starts_with(kernel + "_param_")) {
      out += word.substr(kernel.size() + 1);
    } else if (word.starts_with("_Z")) {
      const std::string plain = readable_name(word);
      const auto colon = plain.rfind("::");
      out += colon == std::string::npos ? plain : plain.substr(colon + 2);
    } else {
      out += word;
    }
  }
  while (!out.empty() && (out.back() == ' ' || out.back() == ';')) out.pop_back();
  return out;
}

std::string drop_note(emulator::drop_reason reason) {
  switch (reason) {
    case emulator::drop_reason::same_address:
      return "removed: another instruction loads or stores these bytes";
    case emulator::drop_reason::unused:
      return "removed: the value is never used";
    case emulator::drop_reason::in_registers:
      return "no memory: the array is in registers";
    case emulator::drop_reason::constant_bank:
      return "no load: it became an operand of another instruction";
    case emulator::drop_reason::unknown:
      return "no machine instruction; the line tables do not show why";
  }
  return "";
}

class kernel_lister {
 public:
  kernel_lister(const ptx::module& m, const std::vector<std::string>& ptx_lines,
                const ptx::function& kernel, const image::kernel_resources* machine_code,
                const machine_text& shown, emulator::source_text& sources)
      : body_(m.body_of(kernel)),
        ptx_lines_(ptx_lines),
        machine_code_(machine_code),
        sources_(sources),
        flow_(body_),
        map_(m, kernel, machine_code) {
    out_.ptx_name = std::string(kernel.name);
    out_.name = readable_name(kernel.name);
    if (machine_code != nullptr) sort_machine_text(shown);
  }

  kernel_listing run() {
    resources();
    for (std::uint32_t n = 0; n < body_.instructions.size(); ++n) add(n);
    sort_lines();
    for (std::uint32_t n = 0; n < flow_.loops.size(); ++n) add_loop(n);
    find_remainders();
    const auto most =
        std::max_element(out_.loops.begin(), out_.loops.end(),
                         [](const ptx_loop& a, const ptx_loop& b) { return a.fma < b.fma; });
    if (most != out_.loops.end() && most->fma > 0) most->is_main = true;
    return std::move(out_);
  }

 private:
  void find_remainders() {
    for (ptx_loop& l : out_.loops) {
      l.is_remainder = std::any_of(out_.loops.begin(), out_.loops.end(), [&](const ptx_loop& o) {
        return o.unrolled > 1 && l.unrolled == 1 && o.ptx > l.ptx && o.depth == l.depth &&
               o.file == l.file && o.first_line == l.first_line && o.last_line == l.last_line;
      });
    }
  }

  void resources() {
    out_.knows_machine_code = map_.knows_machine_code;
    out_.ptx_instructions = static_cast<std::uint32_t>(body_.instructions.size());
    out_.groups = static_cast<std::uint32_t>(map_.groups.size());
    out_.dropped = static_cast<std::uint32_t>(map_.dropped.size());
    const auto ambiguous = [](const auto& x) { return x.ambiguous; };
    out_.undecided = static_cast<std::uint32_t>(
        std::count_if(map_.groups.begin(), map_.groups.end(), ambiguous) +
        std::count_if(map_.dropped.begin(), map_.dropped.end(), ambiguous) +
        std::ssize(map_.thinned));
    if (machine_code_ == nullptr) return;
    out_.registers = machine_code_->registers;
    out_.shared_bytes = machine_code_->static_shared_bytes;
    out_.stack_bytes = machine_code_->frame_bytes;
    for (const auto& [line, count] : machine_code_->instructions_of_ptx_line) {
      out_.machine_instructions += count;
    }
  }

  // Sorts the machine code by PTX line, in code order.
  void sort_machine_text(const machine_text& shown) {
    const auto& table = machine_code_->code_lines;
    for (std::size_t n = 0; n < table.size(); ++n) {
      auto at = shown.lower_bound(table[n].offset);
      const auto end = n + 1 < table.size() ? shown.lower_bound(table[n + 1].offset) : shown.end();
      for (; at != end; ++at) machine_text_[table[n].ptx_line].push_back(at->second);
    }
  }

  void add(std::uint32_t n) {
    const ptx::instruction& i = body_.instructions[n];
    const emulator::instruction_source& s = map_.instructions[n];
    ptx_row row;
    if (i.line >= 1 && i.line <= ptx_lines_.size()) {
      row.text = short_names(ptx_lines_[i.line - 1], out_.ptx_name);
    }
    row.opcode = std::string(i.text);
    row.kind = kind_of(i);
    row.machine_instructions = s.machine_instructions;
    row.role = s.role;
    row.note = note(n);
    row.loop = flow_.blocks[flow_.block_of[n]].loop;
    row.inlined = inlined(s);
    row.machine_code = take_machine_text(n == 0 ? 0 : i.line, i.line);
    line_of(s).rows.push_back(std::move(row));
  }

  // Takes the machine code of PTX lines `first` to `last`, but only once if instructions share a
  // line. Code before a kernel's first instruction is listed at its '{'.
  std::vector<std::string> take_machine_text(std::uint32_t first, std::uint32_t last) {
    std::vector<std::string> out;
    const auto begin = machine_text_.lower_bound(first), end = machine_text_.upper_bound(last);
    for (auto code = begin; code != end; ++code) {
      out.insert(out.end(), code->second.begin(), code->second.end());
    }
    machine_text_.erase(begin, end);
    return out;
  }

  ptx_source_line& line_of(const emulator::instruction_source& s) {
    const auto [at, is_new] = line_index_.try_emplace(s.line, out_.lines.size());
    if (is_new) {
      ptx_source_line line;
      if (s.line != no_index) {
        const emulator::source_line& from = map_.lines[s.line];
        line.file = from.file;
        line.line = from.line;
        line.source = std::string(sources_.whole_line(from.file, from.line));
        if (out_.lines.empty()) out_.of_user = from.of_user;
      }
      out_.lines.push_back(std::move(line));
    }
    return out_.lines[at->second];
  }

  void sort_lines() {
    std::map<std::string, std::size_t> file_order;
    for (const ptx_source_line& l : out_.lines) file_order.try_emplace(l.file, file_order.size());
    std::stable_sort(out_.lines.begin(), out_.lines.end(),
                     [&](const ptx_source_line& a, const ptx_source_line& b) {
                       return std::pair(file_order[a.file], a.line) <
                              std::pair(file_order[b.file], b.line);
                     });
  }

  std::string note(std::uint32_t n) const {
    const emulator::instruction_source& s = map_.instructions[n];
    const bool is_store = body_.instructions[n].opcode == "st";
    switch (s.role) {
      case access_role::leader:
        return fmt::format("one {}-byte {} replaces {} of these", map_.groups[s.group].bytes,
                           is_store ? "store" : "load", map_.groups[s.group].members.size());
      case access_role::member:
        return is_store ? "part of a wider store below" : "part of a wider load above";
      case access_role::dropped:
        return drop_note(map_.dropped[s.group].reason);
      case access_role::alone:
        if (s.group != no_index) {  // the leader's line shows the machine instructions of both
          return map_.groups[s.group].leader == n ? "" : "a separate load, counted above";
        }
        for (const emulator::thinned_access& t : map_.thinned) {
          if (t.instruction != n) continue;
          return fmt::format("{} in {} copies of the loop", t.copies, t.block_copies);
        }
        return "";
      case access_role::none:
        return "";
    }
    return "";
  }

  // The innermost frame in the user's code, or otherwise the library function that the line calls.
  std::string inlined(const emulator::instruction_source& s) const {
    if (s.inner == no_index) return "";
    const auto& chain = map_.chains[s.inner];
    const auto users = std::find_if(chain.rbegin(), chain.rend(),
                                    [](const emulator::source_frame& f) { return f.at.of_user; });
    const emulator::source_frame& f = users == chain.rend() ? chain.front() : *users;
    const std::string function = f.function.empty() ? "a function" : f.function;
    if (users == chain.rend()) return function;
    const bool same_file = s.line != no_index && map_.lines[s.line].file == f.at.file;
    const std::string file = std::filesystem::path(f.at.file).filename().string();
    return function + ", " + (same_file ? "line " : file + ":") + std::to_string(f.at.line);
  }

  std::vector<std::uint32_t> own_instructions(std::uint32_t loop) const {
    std::vector<std::uint32_t> out;
    for (const std::uint32_t b : flow_.loops[loop].blocks) {
      if (flow_.blocks[b].loop != loop) continue;
      for (std::uint32_t n = flow_.blocks[b].first; n < flow_.blocks[b].end; ++n) out.push_back(n);
    }
    return out;
  }

  // The most frequent count among arithmetic and access lines, which become one op per copy.
  std::uint32_t copies_of(const std::vector<std::uint32_t>& own) const {
    std::map<std::uint32_t, std::uint32_t> times;
    for (const std::uint32_t n : own) {
      const std::string kind = kind_of(body_.instructions[n]);
      const bool counts = kind == "FMA" || kind == "FP32" || kind.starts_with("load ") ||
                          kind.starts_with("store ");
      const std::uint32_t machine = map_.instructions[n].machine_instructions;
      if (counts && machine != 0) ++times[machine];
    }
    const auto most =
        std::max_element(times.begin(), times.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    return most == times.end() ? 1 : most->first;
  }

  void add_loop(std::uint32_t number) {
    const auto own = own_instructions(number);
    const emulator::natural_loop& from = flow_.loops[number];
    ptx_loop loop;
    loop.is_innermost = loop.is_main = from.is_innermost;
    for (auto p = from.parent; p != no_loop; p = flow_.loops[p].parent) ++loop.depth;
    for (const std::uint32_t b : from.blocks) {
      const auto inside = [&](std::uint32_t s) {
        return std::binary_search(from.blocks.begin(), from.blocks.end(), s) && s != from.header;
      };
      const auto& to = flow_.blocks[b].successors;
      loop.has_branches = loop.has_branches || std::count_if(to.begin(), to.end(), inside) > 1;
    }
    loop.copies = copies_of(own);
    for (const std::uint32_t n : own) {
      count(n, loop);
      widen(map_.instructions[n], loop);
    }
    guess_unrolling(own, loop);
    std::sort(loop.kinds.begin(), loop.kinds.end(), [](const kind_count& a, const kind_count& b) {
      const auto place = [](const kind_count& k) {
        return std::find(kinds.begin(), kinds.end(), k.kind) - kinds.begin();
      };
      return place(a) < place(b);
    });
    out_.loops.push_back(std::move(loop));
  }

  // A line that nvcc unrolled four times has four times the accesses, FMAs and barriers.
  void guess_unrolling(const std::vector<std::uint32_t>& own, ptx_loop& loop) const {
    std::map<std::uint32_t, std::map<std::string_view, std::uint32_t>> times;  // by line and opcode
    for (const std::uint32_t n : own) {
      const emulator::instruction_source& s = map_.instructions[n];
      const std::string kind = kind_of(body_.instructions[n]);
      const bool is_evidence = s.role != access_role::none || kind == "FMA" || kind == "barrier";
      // An inlined function may appear twice in a line without any unrolling.
      if (is_evidence && s.inner == no_index) ++times[s.line][body_.instructions[n].text];
    }
    std::uint32_t all = 0;
    for (const auto& [line, opcodes] : times) {
      std::uint32_t common = 0;
      for (const auto& [opcode, count] : opcodes) common = std::gcd(common, count);
      all = std::gcd(all, common);
      const bool is_larger = common > 1 && loop.unrolled_line == 0 && line != no_index;
      if (is_larger) loop.unrolled_line = map_.lines[line].line;
    }
    loop.unrolled = std::max(all, 1u);
  }

  // Extends the loop's range of source lines, all of which are in the file of the first line.
  void widen(const emulator::instruction_source& s, ptx_loop& loop) const {
    if (s.line == no_index || s.estimated) return;
    const emulator::source_line& line = map_.lines[s.line];
    if (loop.first_line == 0) {
      loop.file = line.file;
      loop.first_line = loop.last_line = line.line;
    } else if (loop.file == line.file) {
      loop.first_line = std::min(loop.first_line, line.line);
      loop.last_line = std::max(loop.last_line, line.line);
    }
  }

  void count(std::uint32_t n, ptx_loop& loop) const {
    const ptx::instruction& i = body_.instructions[n];
    const emulator::instruction_source& s = map_.instructions[n];
    const std::string kind = kind_of(i);
    auto k = std::find_if(loop.kinds.begin(), loop.kinds.end(),
                          [&](const kind_count& c) { return c.kind == kind; });
    if (k == loop.kinds.end()) k = loop.kinds.insert(k, kind_count{kind, 0, 0, 0});
    const double machine = static_cast<double>(s.machine_instructions) / loop.copies;
    ++k->ptx;
    k->machine += machine;
    ++loop.ptx;
    loop.machine += machine;
    if (kind == "FMA") ++loop.fma;
    std::uint32_t bytes = 0;
    if (s.role == access_role::alone) bytes = access_bytes(i);
    if (s.role == access_role::leader) bytes = map_.groups[s.group].bytes;
    k->bytes += bytes;
    if (kind == "load global") loop.loaded_global_bytes += bytes;
    if (kind == "load shared") loop.loaded_shared_bytes += bytes;
  }

  const ptx::body& body_;
  const std::vector<std::string>& ptx_lines_;
  const image::kernel_resources* machine_code_;
  emulator::source_text& sources_;
  emulator::control_flow flow_;
  emulator::source_map map_;
  kernel_listing out_;
  std::unordered_map<std::uint32_t, std::size_t> line_index_;
  std::map<std::uint32_t, std::vector<std::string>> machine_text_;
};

}  // namespace

std::string kind_of(const ptx::instruction& i) {
  using ptx::instruction_kind;
  const ptx::traits t = ptx::traits_of(i);
  switch (t.kind) {
    case instruction_kind::load:
      return i.opcode == "ldmatrix" ? "load shared" : access_kind(i, "load");
    case instruction_kind::store:
      return i.opcode == "stmatrix" ? "store shared" : access_kind(i, "store");
    case instruction_kind::atomic:
      return "atomic";
    case instruction_kind::async_copy:
      return "async copy";
    case instruction_kind::tensor:
      return "tensor";
    case instruction_kind::control:
      return "control";
    case instruction_kind::barrier:
      return "barrier";
    case instruction_kind::warp:
      return "warp";
    case instruction_kind::conversion:
      return "conversion";
    case instruction_kind::move:
      return "move";
    case instruction_kind::special:
      return "special";
    case instruction_kind::other:
      return "other";
    case instruction_kind::arithmetic:
      break;
  }
  if (i.opcode == "fma" && t.pipe != ptx::pipe::integer) return "FMA";
  return t.pipe == ptx::pipe::fp32   ? "FP32"
         : t.pipe == ptx::pipe::fp64 ? "FP64"
         : t.pipe == ptx::pipe::half ? "half"
                                     : "integer";
}

kernel_listing list_kernel(const ptx::module& m, const std::vector<std::string>& ptx_lines,
                           const ptx::function& kernel, const image::kernel_resources* machine_code,
                           const machine_text& shown, emulator::source_text& sources) {
  return kernel_lister(m, ptx_lines, kernel, machine_code, shown, sources).run();
}

}  // namespace stepwise::cli
