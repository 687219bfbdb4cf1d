// The recording options, and descriptions of recordings.
#include "grader/cli/recorded/choice.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <bit>

#include "grader/cli/context.hpp"

namespace stepwise::cli {

void take_choice(arguments& takes, recorded_choice& o) {
  takes.add("--launch", o.launch, "which kernel launch, counted from 1 (1)").positive();
  takes.add("--block", o.block, "the block's number, or X,Y,Z (0)");
  takes.add("--warps", o.warps, "warps of that block: 0, or 0,1, or all (0)");
  takes.add("--first", o.first, "the first instruction to keep (1)").positive();
  takes.add("--steps", o.steps, "the most instructions to keep (400; limit: 20000)").positive();
}

std::string words_of(const recorded_choice& o) {
  const auto numbers = [](const std::string& text) {
    return !text.empty() && text.find_first_not_of("0123456789,") == std::string::npos &&
           text.find(",,") == std::string::npos && text.front() != ',' && text.back() != ',' &&
           text.size() < 60;
  };
  if (!numbers(o.block) || std::count(o.block.begin(), o.block.end(), ',') > 2)
    refuse("--block: expected a number or X,Y,Z, but found \"" + o.block + "\"");
  if (o.warps != "all" && !numbers(o.warps))
    refuse("--warps: expected numbers, like 0,1, or all, but found \"" + o.warps + "\"");
  if (o.steps > warp_recording::most_steps)
    refuse(fmt::format("--steps: the limit is {}", warp_recording::most_steps));
  return fmt::format("launch={} block={} warps={} first={} steps={}", o.launch, o.block, o.warps,
                     o.first, o.steps);
}

warp_recording read_recording(const fs::path& file) {
  std::error_code none;
  const auto bytes = fs::file_size(file, none);
  if (none) refuse(file.string() + ": there is no such file");
  if (bytes > warp_recording::most_bytes)
    refuse(file.string() + " is too large for a recorded warp");
  const std::string text = read_file(file, static_cast<int>(exit_code::usage));
  if (parse_json_or_null(text).is_null())
    refuse(file.string() +
           " is not a recorded warp; create one with `lab dev record` or `lab exec --record`");
  try {
    return parse_recording(text);
  } catch (const json_error& e) {
    refuse(file.string() + ": " + e.what());
  }
}

void require_steps(const warp_recording& r, const recorded_choice& o) {
  if (!r.steps.empty()) return;
  const auto of = [](std::uint64_t n, const char* what) {
    return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
  };
  const std::string launched =
      fmt::format("launch {} has {} of {}", r.launch, of(volume(r.grid), "block"),
                  of(r.warps_of_block, "warp"));
  if (r.executed > 0)
    refuse(fmt::format("{}; the chosen warps execute {} instructions: choose a smaller --first",
                       launched, r.executed));
  refuse(fmt::format("{}: --block {} --warps {} is not among them", launched, o.block, o.warps));
}

std::string kept_text(const warp_recording& r) {
  std::string warps;
  for (const std::uint32_t w : r.warps) warps += (warps.empty() ? "" : ", ") + std::to_string(w);
  return fmt::format("{}, launch {}, block {}, warp{} {}: {} instruction{}{}", r.kernel, r.launch,
                     r.block_index, r.warps.size() > 1 ? "s" : "", warps, r.steps.size(),
                     r.steps.size() == 1 ? "" : "s",
                     r.is_cut() ? fmt::format(" of {}; truncated", r.executed) : "");
}

std::string step_text(const warp_recording& r, const warp_recording::step& s) {
  const auto& i = r.instructions[s.instruction];
  std::string text = i.file >= 0 ? fmt::format("line {}: ", i.line) : "";
  const int here = std::popcount(s.mask), active = std::popcount(s.active);
  text += fmt::format("{} of 32 lanes active", active);
  if (here != active) text += fmt::format(" ({} here)", here);
  for (const auto& a : s.accesses) {
    text += fmt::format(", {} {}", a.space, a.kind);
    if (!a.counted) continue;
    const char* unit = a.space == "shared" ? "wavefront" : "sector";
    text += fmt::format(", {} {}{}", a.taken, unit, a.taken == 1 ? "" : "s");
    if (a.ideal != a.taken) text += fmt::format(" (ideally {})", a.ideal);
  }
  for (const auto& b : s.barriers) text += ", " + barrier_text(r, b);
  return text;
}

}  // namespace stepwise::cli
