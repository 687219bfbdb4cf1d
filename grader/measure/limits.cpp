// The decision rule and its sentences, doubts about parts whose counts differ, and the timing.
#include "grader/measure/limits.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>

namespace stepwise {
namespace {

// Counts may differ by the few instructions and accesses that a part itself needs.
constexpr double same_traffic = 0.01;      // sectors, wavefronts
constexpr double little_arithmetic = 0.1;  // that may remain where there should be none
constexpr double most_arithmetic = 0.9;    // that must remain where all of it should

std::string enumerated(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i)
    text += (i == 0 ? "" : i + 1 == words.size() ? " and " : ", ") + words[i];
  return text;
}

bool differ(std::uint64_t a, std::uint64_t b) {
  const auto x = static_cast<double>(a), y = static_cast<double>(b);
  return std::abs(x - y) > same_traffic * std::max(x, y);
}

double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::string launch_text(const limit_counts::launch& l) {
  return fmt::format("{} x ({} blocks of {})", l.times, volume(l.grid), volume(l.block));
}

void doubt_launches(const limit_counts& full, const limit_counts& part,
                    std::vector<std::string>& found) {
  // Sorted by configuration, because a part's kernels may have other names.
  const auto ordered = [](std::vector<limit_counts::launch> all) {
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
      return std::tuple(volume(a.grid), volume(a.block), a.times) >
             std::tuple(volume(b.grid), volume(b.block), b.times);
    });
    return all;
  };
  const auto whole = ordered(full.launches), some = ordered(part.launches);
  for (std::size_t i = 0; i < std::max(whole.size(), some.size()); ++i) {
    const std::string wanted = i < whole.size() ? launch_text(whole[i]) : "nothing";
    const std::string is = i < some.size() ? launch_text(some[i]) : "nothing";
    if (wanted != is) {
      found.push_back(
          fmt::format("launches {}, but the full kernel launches {}: keep the grid and the blocks",
                      is, wanted));
      return;
    }
    if (whole[i].resident_warps != some[i].resident_warps) {
      const bool more = some[i].resident_warps > whole[i].resident_warps;
      found.push_back(
          fmt::format("{} warps fit on a multiprocessor, but {} of the full kernel: {}",
                      some[i].resident_warps, whole[i].resident_warps,
                      more ? "limit them with dynamic shared memory, see hold_blocks()"
                           : "it uses more registers or shared memory than the full kernel"));
      return;
    }
  }
}

void doubt_traffic(const char* what, std::uint64_t full, std::uint64_t part,
                   std::vector<std::string>& found) {
  if (!differ(full, part)) return;
  const char* const why = part < full ? "did the compiler remove unused work?"
                                      : "its addresses differ from the full kernel's";
  found.push_back(fmt::format("{} {}, but the full kernel has {}: {}", part, what, full, why));
}

}  // namespace

std::string_view name_of(limited_by found) {
  switch (found) {
    case limited_by::one_part:
      return "one part";
    case limited_by::several_parts:
      return "several parts";
    case limited_by::latency:
      return "latency";
    case limited_by::in_between:
      return "in between";
    case limited_by::unknown_work:
      return "unknown work";
    default:
      return "no part";
  }
}

limit_reading read_limits(double full_ms, const std::vector<part_time>& parts) {
  limit_reading r;
  r.full_ms = full_ms;
  for (const auto& p : parts) {
    r.sum_ms += p.time_ms;
    r.longest_ms = std::max(r.longest_ms, p.time_ms);
  }
  if (r.sum_ms > r.longest_ms) r.overlap = (r.sum_ms - full_ms) / (r.sum_ms - r.longest_ms);
  const auto take = [&](double at_least_ms) {
    for (const auto& p : parts)
      if (p.time_ms >= at_least_ms) r.parts.push_back(p.part);
  };
  if (full_ms < (1 - limit_tolerance) * r.longest_ms) {
    r.found = limited_by::no_part;
    take(full_ms / (1 - limit_tolerance));
  } else if (full_ms * (1 - limit_tolerance) > r.sum_ms) {
    r.found = limited_by::unknown_work;
  } else if (full_ms * (1 - limit_tolerance) <= r.longest_ms) {
    take((1 - limit_tolerance) * r.longest_ms);
    r.found = r.parts.size() == 1 ? limited_by::one_part : limited_by::several_parts;
  } else if (full_ms >= (1 - limit_tolerance) * r.sum_ms) {
    r.found = limited_by::latency;
  } else {
    r.found = limited_by::in_between;
  }
  return r;
}

bool is_certain(const interval& full_ms, const std::vector<part_time>& parts) {
  std::optional<limit_reading> first;
  // Checks every corner of the box that the intervals span.
  for (std::size_t corner = 0; corner < std::size_t{2} << parts.size(); ++corner) {
    auto there = parts;
    for (std::size_t i = 0; i < parts.size(); ++i)
      there[i].time_ms = (corner >> i & 1) != 0 ? parts[i].range_ms.high : parts[i].range_ms.low;
    const bool is_high = (corner >> parts.size() & 1) != 0;
    const auto reading = read_limits(is_high ? full_ms.high : full_ms.low, there);
    if (!first) first = reading;
    if (reading.found != first->found || reading.parts != first->parts) return false;
  }
  return true;
}

std::string overlap_text(const limit_reading& r) {
  return r.overlap ? fmt::format("{:.0f} %", 100 * std::clamp(*r.overlap, 0.0, 1.0)) : "none";
}

std::string in_words(const limit_reading& r) {
  switch (r.found) {
    case limited_by::one_part:
      return fmt::format(
          "{} is the bottleneck: it alone takes as long as the whole kernel, so speeding up "
          "anything else gains nothing",
          enumerated(r.parts));
    case limited_by::several_parts:
      return fmt::format(
          "{} are the bottleneck: each alone takes as long as the whole kernel; to gain time, "
          "reduce all of them, or the work that all parts share, such as launching many blocks",
          enumerated(r.parts));
    case limited_by::latency:
      return "latency is the bottleneck: the whole kernel takes as long as its parts one after the "
             "other; keep more work in flight: more warps (occupancy), more independent loads per "
             "thread, or fewer barriers between fetching and computing";
    case limited_by::in_between:
      return fmt::format(
          "partial overlap: {:.0f} % of the time that could overlap does; with full overlap the "
          "kernel would run at {:.2f}x its speed and take as long as its longest part: overlap "
          "more, or do less of that part",
          100 * r.overlap.value_or(0), r.full_ms / r.longest_ms);
    case limited_by::unknown_work:
      return "the whole kernel takes longer than its parts together: it does work that no part "
             "does, or its parts slow each other down; look for work that is missing from all "
             "parts";
    default:
      return fmt::format(
          "{} takes longer than the whole kernel, so it is not a valid part: compare its counts, "
          "clocks and cache hits",
          enumerated(r.parts));
  }
}

std::uint64_t limit_counts::arithmetic(bool of_integers) const {
  const auto of = [&](pipe p) { return warps[static_cast<int>(p)]; };
  if (of_integers) return of(pipe::integer);
  return of(pipe::fp32) + of(pipe::fp64) + of(pipe::half) + of(pipe::special) + of(pipe::tensor);
}

limit_counts counts_of(const std::vector<kernel_profile>& kernels) {
  limit_counts sum;
  for (const auto& k : kernels) {
    const profile_counts& c = k.total;
    sum.launches.push_back({k.grid, k.block, k.launches, k.resident_warps});
    for (int i = 0; i < pipes; ++i) sum.warps[i] += c.instructions[i].warps;
    sum.load_sectors += c.global_load.sectors;
    sum.store_sectors += c.global_store.sectors + c.global_atomic.sectors;
    sum.local_sectors += c.local_load.sectors + c.local_store.sectors;
    sum.shared_load_wavefronts += c.shared_load.wavefronts;
    sum.shared_wavefronts +=
        c.shared_load.wavefronts + c.shared_store.wavefronts + c.shared_atomic.wavefronts;
  }
  return sum;
}

std::vector<std::string> doubts(const limit_counts& full, const std::string& part,
                                const limit_counts& of_part) {
  std::vector<std::string> found;
  doubt_launches(full, of_part, found);
  const bool is_memory = part == "memory", is_compute = part == "compute";
  if (is_memory) {
    doubt_traffic("sectors loaded", full.load_sectors, of_part.load_sectors, found);
    doubt_traffic("sectors stored", full.store_sectors, of_part.store_sectors, found);
  }
  if (part == "shared") {
    doubt_traffic("wavefronts of shared loads", full.shared_load_wavefronts,
                  of_part.shared_load_wavefronts, found);
  }
  if (is_compute || part == "shared") {
    const auto sectors = of_part.load_sectors + of_part.store_sectors;
    if (sectors > 0) {
      found.push_back(
          fmt::format("{} sectors of global memory are loaded or stored, but there should be none: "
                      "is the condition of the store true?",
                      sectors));
    }
  }
  const bool of_integers = !full.has_floats();
  const double left = share(of_part.arithmetic(of_integers), full.arithmetic(of_integers));
  // Addresses are integers, too, so integer counts cannot show that only memory remains.
  if (is_memory && !of_integers && left > little_arithmetic) {
    found.push_back(fmt::format("{:.0f} % of the arithmetic is still there", 100 * left));
  }
  // In a compute part, half of the integer ops may have computed addresses.
  if (is_compute && left < (of_integers ? most_arithmetic / 2 : most_arithmetic)) {
    found.push_back(fmt::format(
        "only {:.0f} % of the arithmetic remains, because the compiler removed or folded the rest: "
        "use every result, and make every operand unknown at compile time",
        100 * left));
  }
  return found;
}

std::vector<bench_row> time_limits(const lab& l, const problem& p, const contender& full,
                                   const std::vector<contender>& parts, const device_choice& device,
                                   const lab_size& size, std::uint64_t seed, const activity& now) {
  std::vector<contender> all = {full};
  for (const auto& part : parts) all.push_back({part.name, part.program, false});
  return bench(l, p, all, {}, device, {size}, seed, now).rows;
}

}  // namespace stepwise
