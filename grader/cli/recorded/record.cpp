// lab dev record: records the instructions of chosen warps of a call, as a file to play.
#include <fmt/core.h>

#include "common/report/recording.hpp"
#include "grader/cli/context.hpp"
#include "grader/cli/recorded/choice.hpp"
#include "grader/cli/recorded/make.hpp"
#include "grader/cli/verb.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"

namespace stepwise::cli {
namespace {

struct record_options : recorded_choice {
  std::string lab, step, file, size, out;
  std::uint64_t seed = 7;
};

int record(context& c, const record_options& o) {
  const lab l = load_lab(c.where.build, o.lab);
  if (!o.step.empty() && !o.file.empty()) refuse("use a step or --file, not both");
  const std::string step = o.step.empty() ? "" : find_step(l, o.step).name;
  if (o.out.empty()) refuse("name the output file: --out FILE");
  const fs::path out = fs::absolute(o.out);
  require_writable(out);
  const subject s = prepare(c, l, o.file, o.step);
  if (s.program.empty())
    return report_compile_errors(c, s, {{"lab", l.name}, {"subject", s.shown}});
  const auto made = record_call(c, l, s, {o.size, o.seed, words_of(o)}, step);
  if (!made)
    refuse(fmt::format("the call has fewer than {} launch{}: choose an earlier one with --launch",
                       o.launch, o.launch == 1 ? "" : "es"));
  const warp_recording& r = *made;
  require_steps(r, o);
  const std::string text = recording_text(r);
  write_atomically(out, text);
  json document = {{"lab", l.name},        {"subject", s.shown},      {"file", out.string()},
                   {"bytes", text.size()}, {"steps", r.steps.size()}, {"executed", r.executed}};
  if (c.as_json) return c.print(document), 0;
  c.say(fmt::format("{}, {}: {}", c.out.paint(tone::strong, s.shown),
                    r.origin.at("size").get<std::string>(), kept_text(r)));
  c.say(fmt::format("  {} ({} KB)", c.where.shown(out), (text.size() + 1023) / 1024));
  c.say("  " + c.out.paint(tone::dim, "play it  ") + "./lab play " + c.where.shown(out));
  return 0;
}

const verb record_verb(
    {verb_place::group::dev, 60}, "record",
    "record a warp's instructions for ./lab play: LAB [STEP] --out FILE",
    "  ./lab dev record reduction 01 --out a.json     block 0, warp 0 of a step\n"
    "  ./lab dev record reduction --file try.cu --out a.json   a warp of another file\n"
    "  ./lab dev record transpose 04 --size 64x64 --warps 0,1 --steps 99 --out a.json\n"
    "  ./lab play a.json                              play the recording",
    [](arguments& takes, record_options& o) {
      takes.add("LAB", o.lab, "the lab's name").required();
      takes.add_step("STEP", o.step, "a solution step (your own file)");
      takes.add("--file", o.file, "a .cu file other than your own");
      takes.add("--size", o.size, "the call's size, like 1023 or 512x256");
      takes.add("--seed", o.seed, "seed of the random inputs (7)");
      takes.add("--out", o.out, "the file to write");
      take_choice(takes, o);
    },
    record);

}  // namespace
}  // namespace stepwise::cli
