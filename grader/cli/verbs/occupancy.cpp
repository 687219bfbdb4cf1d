// lab occupancy: the blocks that a multiprocessor of any GPU holds, and the changes that would lift
// the limit.
#include <fmt/core.h>

#include <algorithm>

#include "common/device/code_of.hpp"
#include "grader/cli/context.hpp"
#include "grader/cli/text/occupancy_text.hpp"
#include "grader/cli/verb.hpp"
#include "grader/measure/profiled.hpp"
#include "grader/report/text.hpp"
#include "grader/system/files.hpp"

namespace stepwise::cli {
namespace {

struct occupancy_options {
  std::string lab, file, step, size, gpu, svg;
  std::optional<std::uint64_t> threads, registers, shared;
};

struct subject_kernel {
  std::string name;  // the kernel's name; empty if numbers were given
  std::uint64_t threads = 0, registers = 0, shared = 0;
};

// The kernels of a call on the emulated GPU, as compiled for it.
std::vector<subject_kernel> kernels_of(context& c, const occupancy_options& o, const gpu& model,
                                       const lab& l) {
  const problem& p = problem_of(l, c.where);
  const auto size = parse_size(l, p, o.size);
  const device_choice emulator = choose_device(device_request::emulated, c.where);
  const subject s = prepare(c, l, o.file, o.step);
  if (s.program.empty())
    throw failure(exit_code::student, s.shown + " does not compile for " + machine_code_of(model) +
                                          ": " + s.compile_errors.at(0));
  const auto call = profile_program(l, p, s.program, size.value_or(small_sizes(l, p).back()), 7,
                                    emulator, c.now());
  if (!call.found.ok()) throw failure(exit_code::student, s.shown + ": " + call.found.message);
  std::vector<subject_kernel> kernels;
  for (const auto& k : call.kernels) {
    const subject_kernel one{k.kernel, k.block.x * k.block.y * k.block.z,
                             static_cast<std::uint64_t>(k.registers),
                             k.static_shared_bytes + k.dynamic_shared_bytes};
    const bool is_new = std::none_of(kernels.begin(), kernels.end(), [&](const auto& other) {
      return other.name == one.name && other.threads == one.threads && other.shared == one.shared;
    });
    if (is_new) kernels.push_back(one);
  }
  if (kernels.empty()) throw failure(exit_code::student, s.shown + " launches no kernel");
  return kernels;
}

std::vector<subject_kernel> subjects(context& c, const occupancy_options& o, const gpu& model) {
  std::vector<subject_kernel> all;
  if (o.lab.empty()) {
    if (!o.threads)
      refuse(
          "give the block's size, for example ./lab occupancy --threads 256 --registers 32, or "
          "name a lab");
    if (!o.file.empty() || !o.step.empty() || !o.size.empty())
      refuse("--file, --step and --size need a lab: ./lab occupancy reduction --step 02");
    all.push_back({});
  } else {
    all = kernels_of(c, o, model, load_lab(c.where.build, o.lab));
  }
  for (auto& one : all) {  // typed numbers override the compiled ones
    one.threads = o.threads.value_or(one.threads);
    one.registers = o.registers.value_or(one.registers);
    one.shared = o.shared.value_or(one.shared);
  }
  return all;
}

int show_occupancy(context& c, const occupancy_options& o) {
  if (c.request == device_request::gpu)
    refuse("--device gpu: occupancy is computed from a GPU's description; choose it with --gpu");
  const gpu model = stand_for(c, o.gpu);
  const auto all = subjects(c, o, model);
  if (!o.svg.empty() && all.size() > 1)
    refuse(fmt::format("--svg: a picture shows one kernel, but {} has {}", o.lab, all.size()));
  json document = {
      {"gpu", model.name},
      {"compute_capability", fmt::format("{}.{}", model.compute_major, model.compute_minor)},
      {"kernels", json::array()}};
  if (!o.lab.empty()) document["machine_code"] = machine_code_of(model);
  for (const auto& one : all) {
    const auto study = study_occupancy(model, one.threads, one.registers, one.shared);
    if (!study.ok()) refuse(study.failure().message);
    const std::string numbers = fmt::format("{} threads, {} registers, {} bytes of shared memory",
                                            one.threads, one.registers, one.shared);
    document["kernels"].push_back({{"kernel", one.name}});
    document["kernels"].back().update(occupancy_json(*study));
    if (&one != &all.front()) c.say();
    c.say(c.out.paint(tone::strong, one.name.empty() ? "A block" : one.name) + " on " + model.name +
          fmt::format(" (compute capability {}.{})", model.compute_major, model.compute_minor));
    c.say(numbers);
    c.say();
    for (const auto& line : occupancy_lines(*study, c.out.style())) c.say(line);
    if (!o.svg.empty()) write_atomically(o.svg, occupancy_svg(*study, model.name + ": " + numbers));
  }
  if (!o.lab.empty() && !o.registers && !c.as_json) {
    c.say();
    const bool is_newer = code_capability(model) != model.compute_capability();
    c.out.paragraph("Register counts are for " + machine_code_of(model) +
                        (is_newer ? ", the oldest GPU that the compiler supports." : "."),
                    0);
  }
  if (c.as_json) c.print(document);
  return 0;
}

const verb occupancy_verb(
    {verb_place::group::more, 10}, "occupancy",
    "compute how many blocks fit on a multiprocessor, and the limit",
    "  ./lab occupancy --threads 256 --registers 40 --shared 8192\n"
    "  ./lab occupancy --threads 32 --registers 25 --gpu gt430\n"
    "  ./lab occupancy matmul --step 10           the kernels of a step\n"
    "  ./lab occupancy matmul --step 10 --gpu t4  compiled for another GPU\n"
    "  ./lab occupancy matmul --step 10 --registers 96\n"
    "  ./lab occupancy --threads 256 --svg FILE   the three curves as a picture",
    [](arguments& takes, occupancy_options& o) {
      takes.add("LAB", o.lab, "every kernel of this lab's file or step");
      takes.add("--threads", o.threads, "threads per block");
      takes.add("--registers", o.registers, "registers per thread");
      takes.add("--shared", o.shared, "shared-memory bytes per block, static and dynamic");
      takes.add("--gpu", o.gpu,
                "the GPU: a name from common/gpus/, or a file in that format (h200)");
      takes.add_step("--step", o.step, "a solution step instead of your file");
      takes.add("--file", o.file, "a .cu file other than your own");
      takes.add("--size", o.size, "the call's size (a small one)");
      takes.add("--svg", o.svg, "the output file for a picture of the curves");
    },
    show_occupancy);

}  // namespace
}  // namespace stepwise::cli
