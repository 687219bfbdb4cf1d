// lab device: a GPU's facts, from its description or the GPU itself, and its theoretical peaks.
#include "common/device/device.hpp"

#include <fmt/core.h>

#include "common/device/memory_rules.hpp"
#include "grader/cli/context.hpp"
#include "grader/cli/verb.hpp"
#include "grader/measure/device_figures.hpp"
#include "grader/measure/worth.hpp"
#include "grader/report/table.hpp"
#include "grader/report/text.hpp"
#include "grader/system/files.hpp"

namespace stepwise::cli {
namespace {

struct device_options {
  std::string gpu;
  bool list = false, figures = false, measure = false, record = false;
};

struct described {
  gpu model;
  std::string from;  // "this machine's GPU", "common/gpus/h200.toml"
  std::optional<device_record> measured;
};

// The course's id of the GPU with this CUDA name. Empty if it has no description.
std::string id_of(const std::string& name) {
  for (const auto& id : known_gpus())
    if (gpu_named(id).name == name) return id;
  return {};
}

std::optional<device_record> record_of(const context& c, const std::string& name) {
  const std::string id = id_of(name);
  return id.empty() ? std::nullopt : load_device_record(c.where.root, id);
}

// The GPU that `id` names. Without a name, this machine's GPU, or otherwise the course's H200.
described wanted(const context& c, const std::string& id) {
  if (id.empty() && c.request != device_request::emulated) {
    std::string why;
    if (const auto here = make_gpu_device(0, why)) {
      const gpu& model = here->description();
      return {model, "this machine's GPU", record_of(c, model.name)};
    }
    if (c.request == device_request::gpu) throw failure(exit_code::environment, why);
  }
  const std::string name = id.empty() ? "h200" : id;
  const gpu model = gpu_named(name);
  return {model, name.ends_with(".toml") ? name : "common/gpus/" + name + ".toml",
          record_of(c, model.name)};
}

// cudaDeviceAttr numbers, as in the descriptions.
constexpr int clock_rate = 13, memory_clock_rate = 36, memory_bus_width = 37, l2_size = 38;

struct fact {
  const char* key;  // in the document
  const char* name;
  json value;
  std::string text;
  int attribute = 0;  // if this attribute is estimated, so is the fact
};

std::string request_text(const memory_rules& r) {
  switch (r.global) {
    case global_requests::segments:
      return "by half-warps, in segments of 32 to 128 bytes";
    case global_requests::lines:
      return "by warps: loads in lines of 128 bytes";
    default:
      return "by warps, in sectors of 32 bytes";
  }
}

// L1 size without shared memory, and the loads that L1 keeps.
std::string l1_text(const gpu& g, const memory_rules& r) {
  const std::uint64_t bytes = l1_bytes_beside(g, 0, 1);
  if (bytes == 0) return "none";
  return fmt::format("up to {} KiB{}", bytes / 1024,
                     r.l1_keeps_loads ? "" : ", for read-only loads (__ldg)");
}

std::string banks_text(const memory_rules& r) {
  return fmt::format("{} of {} bytes{}", r.half_warps ? 16 : 32, r.bank_bytes,
                     r.half_warps ? ", a half-warp at a time" : "");
}

std::vector<fact> facts_of(const gpu& g) {
  const auto kib = [](std::uint64_t bytes) {
    return fmt::format("{:g} KiB", static_cast<double>(bytes) / 1024);
  };
  const auto number = [](int value) { return fmt::format("{}", value); };
  const int per_clock = multiply_adds_per_clock(g.compute_capability());
  const memory_rules rules = memory_rules_of(g);
  std::vector<fact> all = {
      {"multiprocessors", "multiprocessors", g.multiprocessors, number(g.multiprocessors)},
      {"clock_mhz", "clock", g.clock_khz / 1e3, fmt::format("{:g} MHz", g.clock_khz / 1e3),
       clock_rate},
      {"memory_bytes", "memory", g.memory_bytes, bytes_text(static_cast<double>(g.memory_bytes))},
      {"memory_clock_mhz", "memory clock", g.memory_clock_khz / 1e3,
       fmt::format("{:g} MHz, two transfers each", g.memory_clock_khz / 1e3), memory_clock_rate},
      {"memory_bus_bits", "memory bus", g.memory_bus_bits,
       fmt::format("{} bits", g.memory_bus_bits), memory_bus_width},
      {"l2_bytes", "L2 cache", g.l2_bytes,
       g.l2_bytes == 0 ? "none"
                       : fmt::format("{:g} MiB", static_cast<double>(g.l2_bytes) / (1 << 20)),
       l2_size},
      {"l1_bytes", "L1 cache per multiprocessor", l1_bytes_beside(g, 0, 1), l1_text(g, rules)},
      {"global_requests", "requests to global memory", request_text(rules), request_text(rules)},
      {"shared_banks", "banks of shared memory", banks_text(rules), banks_text(rules)},
      {"max_threads_per_block", "threads per block", g.max_threads_per_block,
       number(g.max_threads_per_block)},
      {"max_threads_per_multiprocessor", "threads per multiprocessor",
       g.max_threads_per_multiprocessor,
       fmt::format("{}, or {} warps", g.max_threads_per_multiprocessor,
                   g.max_threads_per_multiprocessor / g.warp_size)},
      {"max_blocks_per_multiprocessor", "blocks per multiprocessor",
       g.max_blocks_per_multiprocessor, number(g.max_blocks_per_multiprocessor)},
      {"registers_per_multiprocessor", "registers per multiprocessor",
       g.registers_per_multiprocessor, number(g.registers_per_multiprocessor)},
      {"shared_bytes_per_multiprocessor", "shared memory per multiprocessor",
       g.shared_bytes_per_multiprocessor, kib(g.shared_bytes_per_multiprocessor)},
      {"shared_bytes_per_block", "shared memory per block", g.shared_bytes_per_block,
       kib(g.shared_bytes_per_block)},
      {"shared_bytes_per_block_optin", "shared memory per block, opt-in",
       g.shared_bytes_per_block_optin, kib(g.shared_bytes_per_block_optin)},
  };
  if (const auto rates = theoretical_rates(g)) {
    all.push_back(
        {"peak_gb_per_s", "peak bandwidth", rates->bytes_per_s / 1e9,
         fmt::format("{} = 2 x {:g} GHz x {} bits / 8", rate_text(rates->bytes_per_s / 1e9),
                     g.memory_clock_khz / 1e6, g.memory_bus_bits),
         memory_clock_rate});
    all.push_back(
        {"peak_flop_per_s", "peak of float multiply-adds", rates->flops_per_s,
         fmt::format("{} = {} x {} x 2 x {:g} GHz", operations_text(rates->flops_per_s, "flop"),
                     g.multiprocessors, per_clock, g.clock_khz / 1e6),
         clock_rate});
  }
  return all;
}

int list_gpus(context& c) {
  json document = {{"gpus", json::array()}};
  std::vector<std::vector<cell>> rows;
  for (const auto& id : known_gpus()) {
    const gpu g = gpu_named(id);
    const std::string capability = fmt::format("{}.{}", g.compute_major, g.compute_minor);
    document["gpus"].push_back({{"id", id}, {"name", g.name}, {"compute_capability", capability}});
    rows.push_back(
        {{id, tone::strong}, {g.name}, {capability}, {std::to_string(g.multiprocessors)}});
  }
  if (c.as_json) c.print(document);
  c.table(
      {{"--gpu"}, {"name", false, true}, {"compute capability", true}, {"multiprocessors", true}},
      rows);
  return 0;
}

void show_figures(context& c, const device_record& record) {
  std::vector<std::vector<cell>> rows;
  for (const auto& f : record.figures)
    rows.push_back(
        {{f.name}, {fmt::format("{:.4g}", f.value), tone::strong}, {f.unit}, {f.what, tone::dim}});
  c.table({{"figure"}, {"value", true}, {"unit"}, {"how", false, true, true}}, rows);
}

int measure(context& c, const device_options& o) {
  const device_choice on = choose_device(device_request::gpu, c.where);
  c.busy.doing("measuring " + on.name);
  device_record record = measure_device(on, c.where);
  c.busy.clear();
  record.date = utc_now();
  record.command = command_text(c);
  const std::string id = id_of(record.gpu);
  if (o.record && id.empty())
    throw failure(
        exit_code::environment,
        record.gpu +
            " has no description in common/gpus/, so its figures cannot be recorded there");
  if (o.record) keep_device_record(c.where.root, id, record);
  if (c.as_json) {
    c.print(device_record_json(record));
    return 0;
  }
  show_figures(c, record);
  c.say();
  c.say(o.record ? "recorded in common/gpus/" + id + ".measured.jsonl"
                 : "use --record to save these figures");
  return 0;
}

// The recorded figures, each with its percentage of the theoretical peak.
void say_measured(context& c, const device_record& record, const gpu& g) {
  const auto rates = theoretical_rates(g);
  std::vector<std::vector<cell>> rows;
  const auto add = [&](const char* name, const char* text, double theoretical) {
    const device_figure* const f = record.find(name);
    if (f == nullptr) return;
    std::string value = fmt::format("{:.4g} {}", f->value, f->unit);
    if (theoretical > 0)
      value += fmt::format(", {:.0f} % of the peak", 100 * f->value / theoretical);
    rows.push_back({{text}, {value}});
  };
  add("peak_fma_f32", "float multiply-adds", rates ? rates->flops_per_s / 1e12 : 0);
  for (const auto& [name, text] :
       {std::pair("dram_copy", "a copy"), std::pair("dram_read", "reading"),
        std::pair("dram_write", "writing")})
    add(name, text, rates ? rates->bytes_per_s / 1e9 : 0);
  add("l2_read", "reading from L2", 0);
  add("empty_launch", "empty launch", 0);
  c.say();
  c.table({{"measured"}, {"value", false, true}}, rows);
  c.say();
  c.out.paragraph(fmt::format("measured {} with `{}`; `./lab device --figures` lists all {}",
                              record.date, record.command, record.figures.size()),
                  0);
}

int show_device(context& c, const device_options& o) {
  if (o.list) return list_gpus(c);
  if (o.measure) {
    if (!o.gpu.empty()) refuse("--measure measures this machine's GPU; leave out --gpu");
    return measure(c, o);
  }
  if (o.record) refuse("--record works only with --measure");
  const described d = wanted(c, o.gpu);
  const gpu& g = d.model;
  const std::string capability = fmt::format("{}.{}", g.compute_major, g.compute_minor);
  json document = {{"name", g.name}, {"from", d.from}, {"compute_capability", capability}};
  json estimated = json::array();
  std::vector<std::vector<cell>> rows;
  for (auto& f : facts_of(g)) {
    const bool is_estimated = g.estimated.contains(f.attribute);
    document[f.key] = f.value;
    if (is_estimated) estimated.push_back(f.key);
    rows.push_back(
        {{f.name},
         {f.text + (is_estimated ? " (estimated)" : ""), is_estimated ? tone::note : tone::plain}});
  }
  document["estimated"] = std::move(estimated);
  document["measured"] = d.measured ? device_record_json(*d.measured) : json(nullptr);
  if (o.figures && !d.measured) throw failure(exit_code::environment, g.name + " was not measured");
  if (c.as_json) {
    c.print(document);
    return 0;
  }
  if (o.figures) {
    show_figures(c, *d.measured);
    return 0;
  }
  c.say(c.out.paint(tone::strong, g.name) +
        fmt::format(", compute capability {}, by {}", capability, d.from));
  c.say();
  c.table({{"what"}, {"value", false, true}}, rows);
  if (d.measured) say_measured(c, *d.measured, g);
  return 0;
}

const verb device_verb(
    {verb_place::group::more, 10}, "device", "show a GPU's sizes, limits and peaks",
    "  ./lab device                 this machine's GPU, or the H200\n"
    "  ./lab device --gpu gtx980    another GPU\n"
    "  ./lab device --list          list the described GPUs\n"
    "  ./lab device --figures       measured latencies and rates",
    [](arguments& takes, device_options& o) {
      takes.add("--gpu", o.gpu, "the GPU: a name from common/gpus/, or a file in that format");
      takes.flag("--list", o.list, "list the described GPUs");
      takes.flag("--figures", o.figures, "list all recorded measurements");
      takes.flag("--measure", o.measure, "run the microbenchmarks (needs a GPU)");
      takes.flag("--record", o.record, "record their results in common/gpus/");
    },
    show_device);

}  // namespace
}  // namespace stepwise::cli
