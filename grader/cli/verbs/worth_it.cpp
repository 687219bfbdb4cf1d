// lab worth-it: is a problem worth a GPU, with the way there and back?
#include <fmt/core.h>

#include <cmath>

#include "grader/cli/context.hpp"
#include "grader/cli/verb.hpp"
#include "grader/measure/worth.hpp"
#include "grader/report/table.hpp"
#include "grader/report/text.hpp"
#include "grader/system/failure.hpp"

namespace stepwise::cli {
namespace {

// Quantities are as typed: 800M, 1.5G, 64KiB.
struct worth_it_options {
  std::string lab, size;                 // a call of a lab, or
  std::string bytes, flops;              // over the link, there and back; operations of a call
  std::string gpu_bytes;                 // that a call moves in memory; empty: as many as `bytes`
  std::string link = "pcie5";            // a name, or bytes per second
  std::string gpu = "h200";              // a name from common/gpus/, or a file like those
  std::string cpu_flops, cpu_bandwidth;  // per second; empty: usual_cpu()
  std::string calls = "1";               // on the data while it is on the GPU
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

struct problem_at_hand {
  std::string label;
  offload work;
};

// One call of a lab: each input once and each output once, over the link and in memory.
problem_at_hand of_lab(context& c, const worth_it_options& o) {
  if (!o.bytes.empty() || !o.flops.empty())
    refuse("a lab says itself how many bytes and operations it has: leave --bytes and --flops out");
  const lab l = load_lab(c.where.root, o.lab);
  const problem& p = problem_of(l);
  const lab_size size = parse_size(l, p, o.size).value_or(l.bench.back());
  const problem_work work = p.work(size);
  return {fmt::format("{}, size {}", l.name, size_text(size)),
          {work.bytes, work.operations, work.bytes, 1}};
}

problem_at_hand of_numbers(const worth_it_options& o) {
  if (!o.size.empty()) refuse("--size is a lab's: ./lab worth-it matmul --size 4096");
  if (o.bytes.empty() || o.flops.empty()) {
    refuse(
        "how many bytes go to the GPU and back, and how many operations are made of them? "
        "./lab worth-it --bytes 800M --flops 200G; or name a lab");
  }
  const double bytes = quantity("--bytes", o.bytes, true);
  return {"one call", {bytes, quantity("--flops", o.flops, true), bytes, 1}};
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

processor_rates wanted_rates(const std::string& id) {
  const auto rates = paper_rates(gpu_named(id));
  if (!rates)
    refuse("--gpu " + id +
           ": its description does not tell its clocks, or it is of a kind whose "
           "arithmetic is not known here");
  return *rates;
}

// Both rates, or none: half a processor of one's own beside half of another says nothing.
processor_rates wanted_cpu(const worth_it_options& o) {
  if (o.cpu_flops.empty() && o.cpu_bandwidth.empty()) return usual_cpu();
  if (o.cpu_flops.empty() || o.cpu_bandwidth.empty())
    refuse("--cpu-flops and --cpu-bandwidth belong together: operations and bytes per second");
  return {"your CPU", quantity("--cpu-flops", o.cpu_flops),
          quantity("--cpu-bandwidth", o.cpu_bandwidth)};
}

const char* limit_of(const roofline_time& t) { return t.by_arithmetic ? "arithmetic" : "memory"; }

json processor_json(const processor_rates& r, const roofline_time& t) {
  return {{"name", r.name},
          {"flops_per_s", r.flops_per_s},
          {"bytes_per_s", r.bytes_per_s},
          {"call_ms", t.ms},
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
  const auto row = [](const processor_rates& r, const roofline_time& t) -> std::vector<cell> {
    return {{r.name + ", a call"},
            {time_text(t.ms), tone::strong},
            {limit_of(t)},
            {operations_text(r.flops_per_s, "flop") + ", " + rate_text(r.bytes_per_s / 1e9),
             tone::dim}};
  };
  const std::vector<std::vector<cell>> rows = {
      {{link.name + ", once"},
       {time_text(w.transfer_ms), tone::strong},
       {"bytes"},
       {rate_text(link.bytes_per_s / 1e9) + " one way", tone::dim}},
      row(gpu, w.kernel),
      row(cpu, w.cpu)};
  for (const auto& line : table_lines(
           {{"part", false, true}, {"on paper", true}, {"limit"}, {"at"}}, rows, c.out.style()))
    c.say(line);
  c.say();
  if (w.break_even_flops_per_byte) {
    c.say(fmt::format(
        "  break-even  {:.3g} operations of a call for each byte of the link; here {:.3g}",
        *w.break_even_flops_per_byte, p.work.flops / p.work.bytes));
  }
  if (w.break_even_calls) {
    c.say(fmt::format("  break-even  {:.0f} call{} on data that stays on the GPU; here {:.0f}",
                      *w.break_even_calls, *w.break_even_calls == 1 ? "" : "s", p.work.calls));
  }
  c.say();
  c.out.paragraph(verdict_on(w, p.work), 2);
  c.say();
  c.out.paragraph(
      "Rates on paper; nothing overlaps, nothing has latency, the CPU's cores and vectors are all "
      "busy: what is measured takes longer, on all three.",
      2, {}, tone::dim);
}

int worth_it(context& c, const worth_it_options& o) {
  problem_at_hand p = o.lab.empty() ? of_numbers(o) : of_lab(c, o);
  if (!o.gpu_bytes.empty()) p.work.memory_bytes = quantity("--gpu-bytes", o.gpu_bytes, true);
  p.work.calls = number_of_calls(o.calls);
  if (p.work.flops == 0 && p.work.memory_bytes == 0)
    refuse("no operation and no byte of memory: there is nothing to weigh");
  const link_rate link = wanted_link(o.link);
  const processor_rates gpu = wanted_rates(o.gpu), cpu = wanted_cpu(o);
  const worth w = weigh(p.work, link, gpu, cpu);
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
           {"gpu", processor_json(gpu, w.kernel)},
           {"cpu", processor_json(cpu, w.cpu)},
           {"transfer_ms", w.transfer_ms},
           {"speedup", w.speedup},
           {"break_even_calls", or_null(w.break_even_calls)},
           {"break_even_flops_per_byte", or_null(w.break_even_flops_per_byte)},
           {"verdict", verdict_on(w, p.work)}});
  return 0;
}

const verb worth_it_verb(
    {verb_place::group::figures, 50}, "worth-it",
    "is a problem worth a GPU? arithmetic against the transfer",
    "  ./lab worth-it --bytes 800M --flops 200G   to the GPU and back; operations of a call\n"
    "  ./lab worth-it matmul --size 4096          a lab's call\n"
    "  ./lab worth-it reduction --calls 100       100 calls on data that stays on the GPU\n"
    "  ./lab worth-it --bytes 1G --flops 10G --cpu-flops 500G --cpu-bandwidth 40G\n"
    "                                             against a CPU of yours\n\n"
    "K, M, G, T are powers of 1000; Ki, Mi, Gi, Ti of 1024.",
    [](arguments& takes, worth_it_options& o) {
      takes.add("LAB", o.lab, "a lab's call instead of --bytes and --flops");
      takes.add("--size", o.size, "its size, like 4096 or 512x256");
      takes.add("--bytes", o.bytes, "to the GPU and back, together");
      takes.add("--flops", o.flops, "operations of one call");
      takes.add("--gpu-bytes", o.gpu_bytes,
                "that a call reads and writes in memory (as many as --bytes)");
      takes.add("--calls", o.calls, "on the data while it is on the GPU (1)");
      takes.add("--link", o.link,
                "pcie3, pcie4, pcie5, nvlink-c2c or bytes per second, one way (pcie5)");
      takes.add("--gpu", o.gpu, "a name from common/gpus/, or a file like those (h200)");
      takes.add("--cpu-flops", o.cpu_flops, "operations per second of your CPU");
      takes.add("--cpu-bandwidth", o.cpu_bandwidth, "bytes per second of your CPU's memory");
    },
    worth_it);

}  // namespace
}  // namespace stepwise::cli
