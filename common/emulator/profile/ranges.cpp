// Counts the bulk copies that access_range() describes, and notes instructions that are not
// counted. Both are rare, so this file is optimised less.
#include <algorithm>
#include <utility>

#include "common/emulator/machine/program.hpp"
#include "common/emulator/profile/kernel_record.hpp"
#include "common/emulator/profile/profiler.hpp"
#include "common/ptx/spelling.hpp"

namespace stepwise::emulator {
namespace {

// A request has the size of an access by 32 lanes with 16 bytes each.
constexpr std::uint64_t bytes_of_lane = 16, bytes_of_request = 512, bytes_of_mbarrier = 8;

// The PTX text of the instruction with this ordinal; empty if it is unknown.
std::string instruction_at(const program& code, std::uint32_t ordinal) {
  for (const program_function& f : code.functions) {
    if (f.body == nullptr || f.first_op >= code.code.size()) continue;
    const std::uint32_t first = code.code[f.first_op].ordinal;
    if (ordinal >= first && ordinal - first < f.body->instructions.size())
      return ptx::spelled(f.body->instructions[ordinal - first]);
  }
  return {};
}

}  // namespace

// Textures, surfaces and wmma tiles have undocumented requests. A missing figure is better than a
// wrong one.
void profiler::note_uncounted(const warp_event& e) {
  std::string& name = now_->profile.uncounted;
  if (name.empty()) name = instruction_at(*now_->code, e.at->ordinal);
  if (name.empty()) name = "an instruction";
}

void profiler::access_range(const warp_event& e, const range_event& r) {
  if (r.of_tensor_map) return;
  if (now_ == nullptr || e.at->ordinal >= now_->view->places.size()) return;
  std::uint32_t site = now_->view->places[e.at->ordinal].site;
  if (site == instruction_place::none) {
    // counts_of_step() derives the counts of wgmma's operands from its shape.
    const bool is_operand =
        r.space == memory_space::shared && now_->view->places[e.at->ordinal].on == pipe::tensor;
    if (!is_operand && (r.space == memory_space::global || r.bytes != bytes_of_mbarrier))
      note_uncounted(e);
    return;
  }
  if (!plans_[site].ranged) return;  // its event counts
  // A bulk copy has two consecutive sites. An access that fits neither site is to its mbarrier.
  const auto fits = [&](std::uint32_t n) {
    return n < now_->view->sites.size() && plans_[n].ranged && plans_[n].kind == r.kind &&
           plans_[n].ordinal == e.at->ordinal;
  };
  if (!fits(site) && !fits(++site)) return;
  const bool is_shared = r.space == memory_space::shared;
  if (ranges_.site != site || ranges_warp_ != e.warp || ranges_.is_shared != is_shared)
    end_ranges();
  for (std::uint64_t at = r.address, end = r.address + r.bytes; at < end;) {
    if (ranges_.site == no_site) {
      ranges_.site = site;
      ranges_.is_shared = is_shared;
      ranges_.first = at;
      ranges_warp_ = e.warp;
    }
    // The sectors of a piece lie in at most five lines.
    if (ranges_.lines.count + 5 > std::size(ranges_.lines.lines)) {
      end_ranges();
      continue;
    }
    const std::uint64_t piece = std::min(end - at, bytes_of_request - ranges_.bytes);
    const std::uint64_t last = at + piece - 1;
    if (is_shared) {
      for (std::uint64_t word = at / 4; word <= last / 4; ++word) ++ranges_.words[word % 32];
    } else {
      for (std::uint64_t sector = at / sector_bytes; sector <= last / sector_bytes; ++sector) {
        const std::uint64_t line = sector / 4;
        touched_lines& t = ranges_.lines;
        auto* const known = std::find_if(t.lines, t.lines + t.count,
                                         [&](const touched_line& l) { return l.line == line; });
        if (known == t.lines + t.count) t.lines[t.count++] = {line, 0};
        t.sectors += ((known->sectors >> (sector % 4)) & 1) == 0;
        known->sectors |= 1u << (sector % 4);
      }
    }
    ranges_.bytes += piece;
    at += piece;
    if (ranges_.bytes == bytes_of_request) end_ranges();
  }
}

// Counts the completed request.
void profiler::end_ranges() {
  if (ranges_.site == no_site) return;
  const std::uint32_t index = ranges_.site;
  const site_plan& p = plans_[index];
  site_counts& site = sites_[index];
  const auto lanes =
      static_cast<unsigned>(std::max<std::uint64_t>(1, ranges_.bytes / bytes_of_lane));
  recorded_access a;
  a.ordinal = p.ordinal;
  a.site = index;
  a.lanes = static_cast<std::uint8_t>(lanes);
  const auto ideal = static_cast<unsigned>((ranges_.bytes + 127) / 128);
  if (ranges_.is_shared) {
    const unsigned taken = std::max<unsigned>(ideal, *std::ranges::max_element(ranges_.words));
    site.shared += {1, lanes, taken, ideal, 0};
    a.wavefronts = static_cast<std::uint16_t>(taken);
    a.ideal_wavefronts = static_cast<std::uint8_t>(ideal);
    if (timer_ != nullptr) {
      timer_->moved(0, taken);
      timer_->access(a, {});
    }
  } else {
    const touched_lines& t = ranges_.lines;
    const auto whole_sectors = static_cast<unsigned>((ranges_.bytes + 31) / 32);
    const unsigned ideal_sectors = std::min(t.sectors, whole_sectors);
    site.global += {1, lanes, t.sectors, ideal_sectors, 0, 0, 0, 0, 0, 0};
    if (p.kind == access_kind::load) {
      if (std::exchange(received_by_, instruction_place::none) != instruction_place::none)
        copied_sectors_ = 0;
      copied_sectors_ += t.sectors;
    } else {
      now_->async[p.ordinal].sent_sectors += t.sectors;
    }
    const bool whole = ranges_.bytes == std::uint64_t{t.sectors} * sector_bytes;
    trace_.add(ranges_warp_, index, t, whole, false);
    if (timer_ != nullptr) {
      timer_->moved(t.sectors, 0);
      site.timed_bytes += ranges_.bytes;
      if (p.kind == access_kind::load) timer_->loaded(index, ranges_.first);
      if (p.kind != access_kind::load) timer_->stored(ranges_.first);
      if (p.kind == access_kind::atomic)
        for (unsigned n = 0; n < t.count; ++n) timer_->reduced(index, t.lines[n].line);
      std::vector<recorded_line> lines;
      for (unsigned n = 0; n < t.count; ++n)
        lines.push_back(line_record(t.lines[n].line, t.lines[n].sectors));
      a.sectors = static_cast<std::uint16_t>(t.sectors);
      a.ideal_sectors = static_cast<std::uint8_t>(ideal_sectors);
      a.lines = a.tag_passes = static_cast<std::uint8_t>(t.count);
      if (rules_.are_todays())
        a.tag_passes = static_cast<std::uint8_t>(most_in_a_tag_bank(
            timer_->costs(), t.count, [&](unsigned n) { return line_of(lines[n]); }));
      a.wavefronts = static_cast<std::uint16_t>(ideal);
      a.use = p.kind == access_kind::load    ? bulk_use::load
              : p.kind == access_kind::store ? bulk_use::store
                                             : bulk_use::reduction;
      timer_->access(a, {});  // bypasses L1
    }
  }
  ranges_ = {};
}

}  // namespace stepwise::emulator
