// Finds the waste of each line, and formats each kernel's header, lines and summary.
#include "common/report/profile_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace stepwise {
namespace {

double ratio(std::uint64_t part, std::uint64_t of) {
  return of == 0 ? 0 : static_cast<double>(part) / static_cast<double>(of);
}
double percent(std::uint64_t part, std::uint64_t of) { return 100 * ratio(part, of); }

std::string bytes_text(std::uint64_t bytes) {
  const auto n = static_cast<double>(bytes);
  return n < 1e3   ? fmt::format("{} B", bytes)
         : n < 1e6 ? fmt::format("{:.3g} KB", n / 1e3)
         : n < 1e9 ? fmt::format("{:.4g} MB", n / 1e6)
                   : fmt::format("{:.4g} GB", n / 1e9);
}
std::string extent_text(const extent& e) {
  return e.z > 1   ? fmt::format("{} x {} x {}", e.x, e.y, e.z)
         : e.y > 1 ? fmt::format("{} x {}", e.x, e.y)
                   : std::to_string(e.x);
}
// Wraps a sentence onto lines that begin with `indent` spaces.
void wrap_into(std::vector<text_line>& lines, const std::string& sentence, std::size_t indent,
               std::size_t width, text_role role, const std::string& mark = "") {
  const std::string blank(indent, ' ');
  std::string line = mark;
  bool first = true;
  for (std::size_t at = 0; at < sentence.size();) {
    const std::size_t end = std::min(sentence.find(' ', at), sentence.size());
    const std::string word = sentence.substr(at, end - at);
    const bool fits = indent + line.size() + 1 + word.size() <= width;
    if (!fits && line.size() > mark.size()) {
      lines.push_back({{text_role::plain, blank}, {role, line}});
      line = std::string(mark.size(), ' ');
      first = true;
    }
    line += (first ? "" : " ") + word;
    first = false;
    at = end + 1;
  }
  lines.push_back({{text_role::plain, blank}, {role, line}});
}

// A remark about a line. `waste` is its excess over the ideal cost, in sectors or wavefronts.
struct remark {
  std::string text;
  std::uint64_t waste = 0;
};

// An access is called wasteful above this ratio of actual to ideal cost.
constexpr double wasteful = 1.25;

// Advice on how to get fewer wavefronts for atomics by lanes that share an address.
constexpr const char* combined_first = "if lanes with the same address were combined first";

void remark_sectors(std::vector<remark>& to, const char* what, const sector_counts& c) {
  if (c.requests == 0) return;
  const double per = ratio(c.sectors, c.requests), ideal = ratio(c.ideal_sectors, c.requests);
  remark r;
  r.text = fmt::format("{}: {:.1f} sectors per request", what, per);
  if (per > wasteful * ideal) {
    r.waste = c.sectors - c.ideal_sectors;
    r.text += fmt::format(", {:.1f} {}", ideal,
                          2 * c.repeated_sectors > r.waste ? combined_first : "would be enough");
  }
  constexpr double shown_from = 0.5;  // percent
  const double in_l1 = percent(c.l1_hits, c.sectors), in_l2 = percent(c.l2_hits, c.l2_sectors);
  if (in_l1 >= shown_from) r.text += fmt::format("; {:.0f} % hit in L1", in_l1);
  if (in_l2 >= shown_from && c.l2_hits != c.l2_sectors)
    r.text += fmt::format("; {}{:.0f} % in L2", in_l1 >= shown_from ? "of the rest " : "", in_l2);
  if (c.dram_read_bytes != 0) r.text += "; " + bytes_text(c.dram_read_bytes) + " from memory";
  if (c.dram_write_bytes != 0) r.text += "; " + bytes_text(c.dram_write_bytes) + " to memory";
  to.push_back(std::move(r));
}

void remark_wavefronts(std::vector<remark>& to, const char* what, const wavefront_counts& c) {
  if (c.requests == 0) return;
  remark r;
  const double ways = ratio(c.wavefronts, c.ideal_wavefronts);
  r.text = fmt::format("{}: {:.1f} wavefronts per request", what, ratio(c.wavefronts, c.requests));
  if (ways > wasteful) {
    r.waste = c.wavefronts - c.ideal_wavefronts;
    r.text +=
        2 * c.repeated_wavefronts > r.waste
            ? fmt::format(", {:.1f} {}", ratio(c.ideal_wavefronts, c.requests), combined_first)
            : fmt::format(", {:.1f}-way bank conflict", ways);
  }
  to.push_back(std::move(r));
}

// The ideal is 0 regardless of the access pattern, because data in registers needs no access.
void remark_local(std::vector<remark>& to, const char* what, const sector_counts& c) {
  if (c.requests == 0) return;
  to.push_back({fmt::format("{}: {:.1f} sectors per request, 0 if the array were in registers",
                            what, ratio(c.sectors, c.requests)),
                c.sectors});
}

void remark_async(std::vector<remark>& to, const async_counts& c) {
  constexpr std::uint64_t sector_bytes = 32;
  const auto say = [&](std::string text) { to.push_back({std::move(text), 0}); };
  if (c.tensor_instructions != 0)
    say(fmt::format("tensor cores: {} instructions, {:.0f} cycles each",
                    grouped(c.tensor_instructions), ratio(c.tensor_cycles, c.tensor_instructions)));
  if (c.operand_wavefronts > 0)
    say(fmt::format("operands in shared memory: {:.1f} wavefronts per warp",
                    c.operand_wavefronts / static_cast<double>(c.tensor_instructions)));
  if (c.received_sectors != 0)
    say(fmt::format("bulk copies: {} arrive in shared memory",
                    bytes_text(c.received_sectors * sector_bytes)));
  if (c.sent_sectors != 0)
    say(fmt::format("bulk copies: {} leave shared memory",
                    bytes_text(c.sent_sectors * sector_bytes)));
  if (c.arrivals + c.waits != 0)
    say(fmt::format("mbarriers: {} arrivals, {} waits", grouped(c.arrivals), grouped(c.waits)));
  if (c.cluster_barriers != 0)
    say(fmt::format("the cluster's barrier: {} arrivals of warps", grouped(c.cluster_barriers)));
  if (c.peer_sectors != 0)
    say(fmt::format("other blocks' shared memory: {}", bytes_text(c.peer_sectors * sector_bytes)));
}

std::vector<remark> remarks_of(const profile_counts& c, const kernel_profile& k) {
  std::vector<remark> all;
  remark_sectors(all, "global load", c.global_load);
  remark_sectors(all, "global store", c.global_store);
  remark_sectors(all, "global atomic", c.global_atomic);
  remark_local(all, "local load", c.local_load);
  remark_local(all, "local store", c.local_store);
  remark_wavefronts(all, "shared load", c.shared_load);
  remark_wavefronts(all, "shared store", c.shared_store);
  remark_wavefronts(all, "shared atomic", c.shared_atomic);
  remark_wavefronts(all, "copy to shared", c.shared_copy);
  remark_async(all, c.async);
  if (c.divergent_branches != 0) {
    all.push_back({fmt::format("{} of {} branches diverge", grouped(c.divergent_branches),
                               grouped(c.branches)),
                   k.diverges_noticeably(c) ? c.divergent_branches : 0});
  }
  if (const instruction_counts n = c.all_instructions();
      n.warps != 0 && ratio(n.lanes, n.warps) < 31.5)
    all.push_back({fmt::format("{:.1f} of 32 lanes are active", ratio(n.lanes, n.warps)), 0});
  return all;
}

void add_head(std::vector<text_line>& lines, const kernel_profile& k, std::size_t width) {
  lines.push_back({{text_role::strong, cut(harmless(k.kernel), width)}});
  const auto say = [&](const std::string& s) { wrap_into(lines, s, 2, width, text_role::plain); };
  const std::string grid =
      k.last_grid.x == 0 ? "grid " + extent_text(k.grid)
                         : "grids from " + extent_text(k.grid) + " to " + extent_text(k.last_grid);
  say(fmt::format("{}, block {}, {}", grid, extent_text(k.block),
                  k.launches == 1 ? "1 launch" : grouped(k.launches) + " launches"));
  std::string resources = k.registers != 0 ? fmt::format("{} registers, ", k.registers) : "";
  resources += bytes_text(k.static_shared_bytes + k.dynamic_shared_bytes) + " of shared memory";
  if (k.local_bytes != 0)
    resources += fmt::format(", {} of local memory", bytes_text(k.local_bytes));
  if (k.spill_bytes != 0)
    resources += fmt::format(" ({} spilled registers)", bytes_text(k.spill_bytes));
  if (k.fits.blocks != 0) {
    resources += fmt::format("; occupancy {:.0f} %: {} of {} warps, {} blocks (limit: {})",
                             100.0 * k.resident_warps / std::max(1, k.most_warps), k.resident_warps,
                             k.most_warps, k.fits.blocks, limiter_of(k.fits));
  }
  say(resources);
  const instruction_counts all = k.total.all_instructions();
  std::string work = fmt::format("{} warp instructions, {:.1f} of 32 lanes are active",
                                 grouped(all.warps), ratio(all.lanes, all.warps));
  if (k.total.branches != 0)
    work += fmt::format("; {} of {} branches diverge", grouped(k.total.divergent_branches),
                        grouped(k.total.branches));
  say(work);
  std::vector<std::pair<std::uint64_t, int>> by_pipe;
  for (int p = 0; p < pipes; ++p)
    if (k.total.instructions[p].warps != 0) by_pipe.emplace_back(k.total.instructions[p].warps, p);
  std::ranges::sort(by_pipe, std::ranges::greater{});
  std::string mix;
  for (const auto& [warps, p] : by_pipe) {
    std::string name = name_of(static_cast<pipe>(p));
    std::ranges::replace(name, '_', '/');
    mix += fmt::format("{}{} {:.0f} %", mix.empty() ? "" : ", ", name, percent(warps, all.warps));
  }
  say(mix);
  if (!k.knows_machine_code)
    say("the accesses are counted from the PTX, because the program has no machine code with a "
        "line table for this GPU (nvcc -lineinfo -arch=sm_90)");
}

void add_line(std::vector<text_line>& lines, const line_profile& l, const kernel_profile& k,
              const profile_style& style, std::size_t indent, std::uint64_t marked_from) {
  const std::vector<remark> remarks = remarks_of(l.counts, k);
  std::uint64_t waste = 0;
  for (const remark& r : remarks) waste = std::max(waste, r.waste);
  const bool marked = waste != 0 && waste >= marked_from;
  const double share = percent(l.counts.all_instructions().warps, k.total.all_instructions().warps);
  const std::string number = l.at.line != 0 ? std::to_string(l.at.line) : "?";
  const std::string place = indent == 0 ? fmt::format("{:>5} {:>4.0f} %  ", number, share)
                                        : fmt::format("{:>5} {:>4.0f} %  | ", number, share);
  std::string source =
      l.at.text.empty() ? (l.at.line == 0 ? "(line unknown)" : l.at.file) : l.at.text;
  if (indent != 0) source = l.at.inner + ": " + source;
  lines.push_back({{marked ? text_role::warning_kind : text_role::plain, marked ? "*" : " "},
                   {text_role::place, place},
                   {text_role::source,
                    cut(harmless(source), style.width - std::min(style.width, place.size() + 1))}});
  for (const remark& r : remarks)
    wrap_into(lines, r.text, 15 + indent, style.width,
              r.waste != 0 ? text_role::warning_kind : text_role::dim);
  for (const std::string& note : l.notes)
    wrap_into(lines, note, 15 + indent, style.width, text_role::dim, "- ");
  if (!style.with_inner) return;
  for (const line_profile& inner : l.inner) add_line(lines, inner, k, style, 2, marked_from);
}

// The remarks with the most waste, the most expensive first.
void add_summary(std::vector<text_line>& lines, const kernel_profile& k,
                 const profile_style& style) {
  struct entry {
    std::uint64_t waste;
    std::string text;
  };
  std::vector<entry> found;
  for (const line_profile& l : k.lines)
    for (const remark& r : remarks_of(l.counts, k))
      if (r.waste != 0) found.push_back({r.waste, fmt::format("line {}: {}", l.at.line, r.text)});
  std::ranges::stable_sort(found, std::ranges::greater{}, &entry::waste);
  if (found.empty()) return;
  lines.push_back({});
  lines.push_back({{text_role::plain, "  "}, {text_role::strong, "What stands out"}});
  constexpr std::size_t most = 5;
  for (std::size_t n = 0; n < std::min(most, found.size()); ++n)
    wrap_into(lines, found[n].text, 2, style.width, text_role::plain, "* ");
}

void add_lines(std::vector<line_profile>& to, const std::vector<line_profile>& lines) {
  for (const line_profile& l : lines) {
    const auto same = std::ranges::find_if(to, [&](const line_profile& t) {
      return t.path == l.path && t.at.line == l.at.line && t.at.inner == l.at.inner;
    });
    if (same == to.end()) {
      to.push_back(l);
      continue;
    }
    same->counts += l.counts;
    add_lines(same->inner, l.inner);
  }
}

}  // namespace

std::string limiter_of(const occupancy& o) {
  std::string text;
  const auto add = [&](bool is, const char* what) {
    if (is) text += (text.empty() ? "" : ", ") + std::string(what);
  };
  add(o.by_warps, "warps");
  add(o.by_registers, "registers");
  add(o.by_shared, "shared memory");
  add(o.by_blocks, "blocks");
  return text;
}

std::vector<kernel_profile> merged_grids(const std::vector<kernel_profile>& kernels) {
  std::vector<kernel_profile> merged;
  for (const kernel_profile& k : kernels) {
    const auto same = std::ranges::find_if(merged, [&](const kernel_profile& m) {
      return m.mangled == k.mangled && m.block == k.block && m.registers == k.registers &&
             m.dynamic_shared_bytes == k.dynamic_shared_bytes && m.uncounted == k.uncounted;
    });
    if (same == merged.end()) {
      merged.push_back(k);
      continue;
    }
    same->launches += k.launches;
    same->last_grid = k.grid;
    same->total += k.total;
    add_lines(same->lines, k.lines);
  }
  return merged;
}

std::vector<text_line> profile_lines(const kernel_profile& k, const profile_style& style) {
  std::vector<text_line> lines;
  add_head(lines, k, style.width);
  // Mark the lines with at least a twentieth of the total waste.
  std::uint64_t waste = 0;
  for (const line_profile& l : k.lines)
    for (const remark& r : remarks_of(l.counts, k)) waste += r.waste;
  std::string file;
  for (const line_profile& l : k.lines) {
    if (&l == &k.lines.front() || l.path != file) {
      file = l.path;
      lines.push_back({});
      lines.push_back({{text_role::dim,
                        cut("  line  instr  " + (file.empty() ? "(unknown)" : harmless(l.at.file)),
                            style.width)}});
    }
    add_line(lines, l, k, style, 0, waste / 20 + 1);
  }
  add_summary(lines, k, style);
  return lines;
}

std::string profile_text(const std::vector<kernel_profile>& kernels, const profile_style& style) {
  std::string text;
  for (const kernel_profile& k : merged_grids(kernels)) {
    for (const text_line& line : profile_lines(k, style)) {
      std::string all;
      for (const text_span& span : line) all += span.text;
      text += all.substr(0, all.find_last_not_of(' ') + 1) + "\n";
    }
    text += "\n";
  }
  return text;
}

}  // namespace stepwise
