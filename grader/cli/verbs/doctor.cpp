// lab doctor: shows what is installed, and what each missing item would enable. (The launcher's
// part, which needs no program, lists what a build needs.)
#include <fmt/core.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cstdlib>
#include <thread>

#include "grader/cli/context.hpp"
#include "grader/cli/verb.hpp"
#include "grader/report/table.hpp"
#include "grader/report/text.hpp"
#include "grader/sandbox/sandbox.hpp"
#include "grader/system/files.hpp"
#include "grader/system/process.hpp"

namespace stepwise::cli {
namespace {

struct doctor_options {
  bool sandbox = false;
};

struct item {
  std::string name;
  bool found = false;
  std::string detail;   // what was found, or what is missing
  std::string enables;  // its purpose
};

// A tool of the CUDA toolkit: on PATH, or otherwise next to nvcc.
item tool(const installation& where, const std::string& name, const std::string& enables) {
  std::string file = on_path(name);
  if (file.empty() && !where.nvcc.empty()) {
    const fs::path beside = fs::path(where.nvcc).parent_path() / name;
    if (::access(beside.c_str(), X_OK) == 0) file = beside;
  }
  return {name, !file.empty(), file.empty() ? "not found" : file, enables};
}

// The rest of the line of `text` that holds `word`, from the word on: "release 13.0, V13.0.88".
std::string from_word(const std::string& text, const std::string& word) {
  const auto at = text.find(word);
  return at == std::string::npos ? std::string{} : text.substr(at, text.find('\n', at) - at);
}

item compiler(const installation& where) {
  item i{"nvcc", false, "not found", "compiling your own files: run, grade"};
  if (where.nvcc.empty() || ::access(where.nvcc.c_str(), X_OK) != 0) return i;
  i.found = true;
  i.detail = where.nvcc;
  child_options version;
  version.command = {where.nvcc, "--version"};
  const auto result = run_child(version, 20);
  if (const auto text = from_word(result.out, "release"); !text.empty())
    i.detail += " (" + text + ")";
  return i;
}

// The active layers, and the first missing layer with its reason.
item sandbox() {
  const protections& guards = find_protections();
  item i{"sandbox", !guards.bubblewrap.empty(), guards.text(),
         "grading other people's files in a sandbox"};
  for (const auto& layer : guards.layers) {
    if (layer.active) continue;
    i.detail = i.found ? i.detail + ": " + layer.detail : layer.detail;
    break;
  }
  return i;
}

std::vector<item> all_items(const context& c, const gpu_state& gpu) {
  std::vector<item> items;
  items.push_back(
      {"GPU", gpu.device,
       gpu.device ? fmt::format("{}, driver {}", gpu.name, gpu.driver_version) : gpu.missing,
       "time, GB/s, speed goals, recorded measurements"});
  items.push_back({"NVIDIA's runtime", !gpu.runtime.empty(),
                   gpu.runtime.empty() ? "libcudart.so.13 was not found"
                                       : (gpu.runtime / "libcudart.so.13").string(),
                   "running on that GPU"});
  const fs::path ours = c.where.emulated_runtime / "libcudart.so.13";
  items.push_back({"emulator", fs::exists(ours),
                   fs::exists(ours) ? c.where.shown(ours) : "not built",
                   "running every lab without a GPU"});
  items.push_back(compiler(c.where));
  items.push_back(tool(c.where, "gdb", "stopping in a runner's host code, and in the emulator"));
  items.push_back(tool(c.where, "compute-sanitizer", "NVIDIA's memory and race checks on a GPU"));
  items.push_back(tool(c.where, "ncu", "hardware counters on a GPU"));
  items.push_back(tool(c.where, "cuobjdump", "reading the machine code from ptxas"));
  items.push_back(sandbox());
  return items;
}

// Shows how each layer of the sandbox was tested, with the results.
int show_attempts(context& c) {
  const protections& guards = find_protections();
  if (c.as_json) {
    json all = json::array();
    for (const auto& one : guards.attempts)
      all.push_back({{"layer", one.layer}, {"attempt", one.attempt}, {"result", one.result}});
    c.print({{"sandbox", all}, {"complete", guards.complete()}});
  } else {
    std::vector<std::vector<cell>> rows;
    for (const auto& one : guards.attempts)
      rows.push_back(
          {{one.layer}, {one.attempt}, {one.result, one.refused() ? tone::plain : tone::bad}});
    const std::vector<column> columns = {
        {"layer"}, {"attempt"}, {.title = "result", .flexible = true}};
    c.table(columns, rows);
    c.say();
    c.say("layers: " + guards.text());
  }
  return guards.complete() ? 0 : static_cast<int>(exit_code::environment);
}

int doctor(context& c, const doctor_options& o) {
  if (o.sandbox) return show_attempts(c);
  const gpu_state gpu = probe_gpu(c.where);
  const auto items = all_items(c, gpu);
  struct statvfs disk {};
  statvfs(c.where.build.c_str(), &disk);
  const double free_bytes = static_cast<double>(disk.f_bavail) * static_cast<double>(disk.f_frsize);
  const double memory =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  const unsigned cores = std::thread::hardware_concurrency();
  const device_choice device = choose_device(device_request::automatic, c.where);
  if (c.as_json) {
    json document = {{"root", c.where.root.string()}, {"version", c.where.version},
                     {"device", device_json(device)}, {"cores", cores},
                     {"memory_bytes", memory},        {"free_disk_bytes", free_bytes},
                     {"items", json::array()}};
    for (const auto& i : items) {
      document["items"].push_back(
          {{"name", i.name}, {"found", i.found}, {"detail", i.detail}, {"enables", i.enables}});
    }
    c.print(document);
    return 0;
  }
  const std::size_t indent = 30;
  for (const auto& i : items) {
    const std::string state = fmt::format("{:<8} ", i.found ? "ok" : "optional");
    const std::string label =
        c.out.paint(i.found ? tone::good : tone::note, state) + fmt::format("{:<20} ", i.name);
    c.out.paragraph(i.found ? i.detail : fmt::format("{}; needed for: {}", i.detail, i.enables),
                    indent, label);
  }
  c.say(fmt::format("{}{:<20} {} cores, {} memory, {} free disk space",
                    c.out.paint(tone::good, "ok       "), "machine", cores, bytes_text(memory),
                    bytes_text(free_bytes)));
  c.say();
  c.say(fmt::format("kernels run on {}", c.out.paint(tone::strong, device.text())));
  return 0;
}

const verb doctor_verb(
    {verb_place::group::examine, 60}, "doctor",
    "check which tools this machine has and which are missing",
    "  ./lab doctor\n  ./lab doctor --sandbox   each attempt to escape, and what stopped it",
    [](arguments& takes, doctor_options& o) {
      takes.flag("--sandbox", o.sandbox, "test the sandbox and show each attempt to escape");
    },
    doctor);

}  // namespace
}  // namespace stepwise::cli
