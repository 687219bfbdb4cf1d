// lab worth-it: decides whether a problem is worth a GPU, including the transfers to the GPU and
// back.
#include <fmt/core.h>

#include <cmath>

#include "grader/cli/context.hpp"
#include "grader/cli/text/figures_text.hpp"
#include "grader/cli/verb.hpp"
#include "grader/measure/worth.hpp"
#include "grader/model/modelled.hpp"
#include "grader/model/recorded_times.hpp"
#include "grader/report/table.hpp"
#include "grader/report/text.hpp"
#include "grader/system/failure.hpp"

namespace stepwise::cli {
namespace {

// Quantities are as typed: 800M, 1.5G, 64KiB.
struct worth_it_options {
  std::string lab, size;                 // a call of a lab, or the values below
  std::string bytes, flops;              // transferred in both directions; operations per call
  std::string gpu_bytes;                 // memory traffic per call; empty: `bytes`
  std::string link = "pcie5";            // a name, or bytes per second
  std::string gpu = "h200";              // a name from common/gpus/, or a file like those
  std::string cpu_flops, cpu_bandwidth;  // per second; empty: usual_cpu()
  std::string calls = "1";               // number of calls while the data is on the GPU
};

// A number like 800M; 0 is allowed only where it makes sense.
double quantity(const char* option, const std::string& text, bool may_be_zero = false) {
  const auto value = parse_quantity(text);
  if (!value || (*value == 0 && !may_be_zero)) {
    refuse(fmt::format("{} {}: expected a {} number like 800M, 1.5G or 64KiB", option, text,
                       may_be_zero ? "non-negative" : "positive"));
  }
  return *value;
}

double number_of_calls(const std::string& text) {
  const double calls = quantity("--calls", text);
  if (calls != std::floor(calls)) refuse(fmt::format("--calls {}: expected a whole number", text));
  return calls;
}

constexpr double seconds_for_the_call = 30;  // to model a call of a lab

struct problem_at_hand {
  std::string label;
  offload work;
  // For a lab: the measured or modelled time of a call, and the step to which it belongs.
  std::optional<known_time> on_gpu, on_cpu;
  std::string step, cpu;
  std::string note;  // about the GPU's time
};

// The modelled time of the last step that runs on that GPU.
void model_time(context& c, const lab& l, const problem& p, const lab_size& size, const gpu& model,
                problem_at_hand& at_hand) {
  device_choice emulator = choose_device(device_request::emulated, c.where);
  emulator.name = model.name;
  std::string why_not;  // reason for the last failure
  if (!l.is_worked) {
    at_hand.note = "A student copy contains no worked step, so no time can be modelled.";
    return;
  }
  for (std::size_t n = l.steps.size(); n-- > 0;) {
    const step& s = l.steps[n];
    if (!l.may_help(s.name)) continue;
    if (c.where.is_as_built && !fs::exists(c.where.solution(l.name, s.name))) {
      at_hand.note = "Nothing is recorded at this size, and " + s.name +
                     " is not built yet, so its time is not modelled; `./lab walk " + l.name +
                     " --step " + s.name + "` builds it.";
      return;
    }
    const subject of = prepare(c, l, "", s.name);
    const modelled_figures m =
        of.program.empty()
            ? modelled_figures{}
            : model_program(l, p, of.program, size, 7, emulator, c.now(), seconds_for_the_call);
    if (!of.program.empty() && m.timed()) {
      at_hand.step = s.name;
      at_hand.on_gpu = {m.time_ms, time_source::modelled};
      const bool is_last = &s == &l.last_step();
      at_hand.note = "The GPU's time is that of " + s.name + ", the lab's last step" +
                     (is_last ? "" : " that runs on this GPU") + ", " +
                     modelled_error_text(c, l, m) + ".";
      if (const std::string old = old_gpu_note(model, l); !old.empty())
        at_hand.note += " Its " + old + ".";
      return;
    }
    // Earlier steps take even longer, and have the same buffers.
    if (m.found.what == verdict::timeout) {
      at_hand.note = fmt::format(
          "The model needs more than {} s for a call of this size, so times are theoretical; try "
          "--size {} for a quick modelled time.",
          seconds_for_the_call, size_text(modelled_size(l, model)));
      return;
    }
    if (m.found.what == verdict::memory) {
      at_hand.note = "The buffers of this call do not fit into the memory of the GPU.";
      return;
    }
    if (why_not.empty())
      why_not = s.name + ": " + (of.program.empty() ? of.compile_errors.at(0) : m.why_no_time());
  }
  at_hand.note = "The model can run no step of the lab on this GPU: " + why_not + ".";
}

// The course's record of the lab at this size, otherwise a modelled time.
void add_times(context& c, const lab& l, const problem& p, const lab_size& size, const gpu& model,
               problem_at_hand& at_hand) {
  const recorded_times recorded = load_recorded_times(c.where.root, l, model.name);
  if (const auto cpu = recorded.cpu_ms.find(size); cpu != recorded.cpu_ms.end()) {
    at_hand.on_cpu = {cpu->second, time_source::recorded};
    at_hand.cpu = recorded.cpu;
  }
  at_hand.step = recorded.fastest(size);
  if (const auto ms = recorded.find(at_hand.step, size)) {
    at_hand.on_gpu = {*ms, time_source::recorded};
    at_hand.note = "The GPU's time is the course's recorded time of " + at_hand.step +
                   ", the lab's fastest step at this size.";
    return;
  }
  model_time(c, l, p, size, model, at_hand);
}

// One call of a lab moves each input and each output once, over the link and in memory.
problem_at_hand of_lab(context& c, const worth_it_options& o, const gpu& model) {
  if (!o.bytes.empty() || !o.flops.empty())
    refuse("a lab defines its own bytes and operations: leave out --bytes and --flops");
  const lab l = load_lab(c.where.build, o.lab);
  const problem& p = problem_of(l, c.where);
  const bool is_recorded = !load_recorded_times(c.where.root, l, model.name).gpu.empty();
  const lab_size size =
      parse_size(l, p, o.size).value_or(is_recorded ? l.bench.back() : modelled_size(l, model));
  const problem_work work = p.work(size);
  problem_at_hand at_hand;
  at_hand.label = fmt::format("{}, size {}", l.name, size_text(size));
  at_hand.work = {work.bytes, work.operations, work.bytes, 1};
  if (p.make_call(l.check.front(), 1).memory != runner::memory_kind::device) {
    at_hand.note =
        "A call of this lab copies its own arrays to the GPU and back, so its times would count "
        "the link twice. All times here are theoretical.";
  } else {
    add_times(c, l, p, size, model, at_hand);
  }
  return at_hand;
}

problem_at_hand of_numbers(const worth_it_options& o) {
  if (!o.size.empty()) refuse("--size needs a lab: ./lab worth-it matmul --size 4096");
  if (o.bytes.empty() || o.flops.empty()) {
    refuse(
        "give the bytes to and from the GPU and the operations, for example ./lab worth-it --bytes "
        "800M --flops 200G, or name a lab");
  }
  const double bytes = quantity("--bytes", o.bytes, true);
  problem_at_hand at_hand;
  at_hand.label = "one call";
  at_hand.work = {bytes, quantity("--flops", o.flops, true), bytes, 1};
  return at_hand;
}

link_rate wanted_link(const std::string& text) {
  if (const auto known = find_link(text)) return *known;
  std::string names;
  for (const auto& name : known_links()) names += name + ", ";
  const auto rate = parse_quantity(text);
  if (!rate || *rate == 0)
    refuse(fmt::format("--link {}: expected {}or bytes per second, like 25G", text, names));
  return {"a link", *rate};
}

processor_rates wanted_rates(const gpu& model) {
  const auto rates = theoretical_rates(model);
  if (!rates)
    refuse("--gpu " + model.id +
           ": its description has no clocks, or its arithmetic throughput is unknown");
  return *rates;
}

// Both rates or none, because a rate of one processor cannot be combined with a rate of another.
processor_rates wanted_cpu(const worth_it_options& o) {
  if (o.cpu_flops.empty() && o.cpu_bandwidth.empty()) return usual_cpu();
  if (o.cpu_flops.empty() || o.cpu_bandwidth.empty())
    refuse("give both --cpu-flops and --cpu-bandwidth: operations and bytes per second");
  return {"your CPU", quantity("--cpu-flops", o.cpu_flops),
          quantity("--cpu-bandwidth", o.cpu_bandwidth)};
}

const char* limit_of(const roofline_time& t) { return t.by_arithmetic ? "arithmetic" : "memory"; }

json processor_json(const processor_rates& r, const roofline_time& t, double theoretical_ms) {
  return {{"name", r.name},      {"flops_per_s", r.flops_per_s}, {"bytes_per_s", r.bytes_per_s},
          {"call_ms", t.ms},     {"call_from", name_of(t.from)}, {"theoretical_ms", theoretical_ms},
          {"limit", limit_of(t)}};
}

template <class Value>
json or_null(const std::optional<Value>& value) {
  return value ? json(*value) : json(nullptr);
}

void show(context& c, const problem_at_hand& p, const link_rate& link, const processor_rates& gpu,
          const processor_rates& cpu, const worth& w) {
  c.say(fmt::format("{}: {} over the link, {} operations, {} of memory",
                    c.out.paint(tone::strong, p.label), bytes_text(p.work.bytes),
                    count_text(p.work.flops), bytes_text(p.work.memory_bytes)));
  c.say();
  const auto row = [&](const std::string& name, const roofline_time& t, const std::string& source,
                       const roofline_time& theoretical) -> std::vector<cell> {
    return {{name + ", a call"},
            {time_text(t.ms), tone::strong},
            {t.from == time_source::theoretical ? "theory" : name_of(t.from) + source},
            {time_text(theoretical.ms), tone::dim},
            {limit_of(theoretical), tone::dim}};
  };
  const roofline_time way{w.transfer_ms};
  std::vector<std::vector<cell>> rows = {
      {{link.name + ", once"}, {time_text(way.ms), tone::strong}, {"theory"}, {""}, {"bytes"}},
      row(gpu.name, w.kernel, ", " + p.step, time_on(gpu, p.work)),
      row(cpu.name, w.cpu, "", time_on(cpu, p.work))};
  if (w.cpu.from == time_source::recorded) {  // not the usual CPU
    rows.back()[0].text = p.cpu + ", a call";
    rows.back()[3].text = rows.back()[4].text = "";
  }
  c.table({{"part", false, true}, {"time", true}, {"from"}, {"theoretical", true}, {"limit"}},
          rows);
  c.say();
  if (w.break_even_flops_per_byte) {
    c.say(fmt::format(
        "  break-even  {:.3g} operations per byte over the link, theoretical; here {:.3g}",
        *w.break_even_flops_per_byte, p.work.flops / p.work.bytes));
  }
  if (w.break_even_calls) {
    c.say(fmt::format("  break-even  {:.0f} call{} on data that stays on the GPU; here {:.0f}",
                      *w.break_even_calls, *w.break_even_calls == 1 ? "" : "s", p.work.calls));
  }
  c.say();
  c.out.paragraph(verdict_on(w, p.work), 2);
  c.say();
  std::string note = p.note.empty() ? "" : p.note + " ";
  if (w.cpu.from == time_source::recorded)
    note += "The CPU's time is also recorded, with empty caches. ";
  const bool any_theoretical = !p.on_gpu || w.cpu.from == time_source::theoretical;
  note += !p.on_gpu ? "Theoretical rates: nothing overlaps, nothing has latency"
          : any_theoretical
              ? "The link and the CPU are theoretical: nothing overlaps, nothing has latency"
              : "The link is theoretical";
  if (any_theoretical)
    note += ", and all CPU cores and vector units are busy; real runs take longer";
  c.out.paragraph(note + ".", 2, "  ", tone::dim);
}

int worth_it(context& c, const worth_it_options& o) {
  const gpu model = stand_for(c, o.gpu);
  const processor_rates gpu = wanted_rates(model), cpu = wanted_cpu(o);
  const link_rate link = wanted_link(o.link);
  const double calls = number_of_calls(o.calls);
  problem_at_hand p = o.lab.empty() ? of_numbers(o) : of_lab(c, o, model);
  if (!o.gpu_bytes.empty()) p.work.memory_bytes = quantity("--gpu-bytes", o.gpu_bytes, true);
  p.work.calls = calls;
  // The recorded times do not apply to another CPU, or to work other than that of the timed call.
  if (!o.cpu_flops.empty() || !o.gpu_bytes.empty()) p.on_cpu.reset();
  if (!o.gpu_bytes.empty()) {
    p.on_gpu.reset();
    p.note.clear();
  }
  if (p.work.flops == 0 && p.work.memory_bytes == 0)
    refuse("no operations and no bytes of memory: there is nothing to compare");
  const worth w = weigh(p.work, link, gpu, cpu, p.on_gpu, p.on_cpu);
  if (!c.as_json) {
    show(c, p, link, gpu, cpu, w);
    return 0;
  }
  c.print({{"problem", p.label},
           {"bytes", p.work.bytes},
           {"flops", p.work.flops},
           {"memory_bytes", p.work.memory_bytes},
           {"calls", p.work.calls},
           {"link", {{"name", link.name}, {"bytes_per_s", link.bytes_per_s}}},
           {"step", p.on_gpu ? json(p.step) : json(nullptr)},
           {"note", p.note},
           {"gpu", processor_json(gpu, w.kernel, time_on(gpu, p.work).ms)},
           {"cpu", processor_json(cpu, w.cpu, time_on(cpu, p.work).ms)},
           {"recorded_cpu", w.cpu.from == time_source::recorded ? json(p.cpu) : json(nullptr)},
           {"transfer_ms", w.transfer_ms},
           {"speedup", w.speedup},
           {"break_even_calls", or_null(w.break_even_calls)},
           {"break_even_flops_per_byte", or_null(w.break_even_flops_per_byte)},
           {"verdict", verdict_on(w, p.work)}});
  return 0;
}

const verb worth_it_verb(
    {verb_place::group::more, 10}, "worth-it",
    "weigh a problem's arithmetic against its transfer to a GPU",
    "  ./lab worth-it --bytes 800M --flops 200G   bytes to the GPU and back; operations per call\n"
    "  ./lab worth-it matmul --size 4096          a lab's call\n"
    "  ./lab worth-it reduction --calls 100       100 calls on data that stays on the GPU\n"
    "  ./lab worth-it --bytes 1G --flops 10G --cpu-flops 500G --cpu-bandwidth 40G\n"
    "                                             against your own CPU\n\n"
    "K, M, G, T are powers of 1000; Ki, Mi, Gi, Ti are powers of 1024.",
    [](arguments& takes, worth_it_options& o) {
      takes.add("LAB", o.lab, "use a lab's call instead of --bytes and --flops");
      takes.add("--size", o.size, "the call's size, like 4096 or 512x256");
      takes.add("--bytes", o.bytes, "the bytes to the GPU and back, together");
      takes.add("--flops", o.flops, "operations of one call");
      takes.add("--gpu-bytes", o.gpu_bytes,
                "the bytes that a call reads and writes in memory (same as --bytes)");
      takes.add("--calls", o.calls, "the number of calls while the data is on the GPU (1)");
      takes.add("--link", o.link,
                "pcie3, pcie4, pcie5, nvlink-c2c or bytes per second, one way (pcie5)");
      takes.add("--gpu", o.gpu,
                "the GPU: a name from common/gpus/, or a file in that format (h200)");
      takes.add("--cpu-flops", o.cpu_flops, "operations per second of your CPU");
      takes.add("--cpu-bandwidth", o.cpu_bandwidth, "bytes per second of your CPU's memory");
    },
    worth_it);

}  // namespace
}  // namespace stepwise::cli
