// lab ptx: source lines next to the PTX that they became.
//
// idea    The program that runs is the program that is shown: its PTX, and the data about the
//         machine code in its line table. Machine code itself is only shown, as a disassembler of
//         the CUDA toolkit prints it. Nothing is derived from the machine code.
#include <fmt/core.h>

#include <algorithm>
#include <charconv>

#include "common/device/engine_settings.hpp"
#include "common/device/gpu.hpp"
#include "common/image/image.hpp"
#include "grader/cli/context.hpp"
#include "grader/cli/text/ptx_listing.hpp"
#include "grader/cli/text/ptx_text.hpp"
#include "grader/cli/verb.hpp"
#include "grader/course/source.hpp"
#include "grader/judge/compile.hpp"
#include "grader/judge/compiler_messages.hpp"
#include "grader/judge/diagnostics.hpp"
#include "grader/judge/plain_source.hpp"
#include "grader/report/text.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"
#include "grader/system/process.hpp"
#include "grader/system/program_file.hpp"

namespace stepwise::cli {
namespace {

struct ptx_options {
  std::string lab, step, file, kernel;
  int line = 0;  // 0: all
  bool machine = false;
};

constexpr double compile_limit_s = 180, disassemble_limit_s = 60;
constexpr const char* no_disassembler =
    "to see machine code, install cuobjdump or nvdisasm (part of the CUDA toolkit; from PyPI: pip "
    "install nvidia-cuda-cuobjdump, or nvidia-cuda-nvdisasm)";

// The program to show: a source file and the file with its device code.
struct ptx_subject {
  std::string shown;  // "03_sequential", "try.cu"
  fs::path source, code;
  std::vector<std::string> compile_errors;
};

// Compiles a .cu file outside the labs, without a runner: only its device code, in `folder`.
ptx_subject compile_alone(context& c, const fs::path& file, const fs::path& folder) {
  const std::string shown = c.where.shown(fs::absolute(file));
  const std::string text = read_file(file, static_cast<int>(exit_code::usage));
  if (c.where.nvcc.empty()) {
    throw failure(exit_code::environment, "no CUDA compiler is installed to compile " + shown +
                                              "; `./lab doctor` shows how to get one");
  }
  ptx_subject s{shown, fs::absolute(file), folder / "code.fatbin", {}};
  if (is_utf16(text)) {
    s.compile_errors = {utf16_refusal(shown)};
    return s;
  }
  const plain_source plain(file, shown, text, folder);
  const auto now = c.now();
  now.doing("compiling " + shown);
  std::vector<std::string> command = {c.where.nvcc};
  const auto add = [&](const std::vector<std::string>& more) {
    command.insert(command.end(), more.begin(), more.end());
  };
  add(c.where.cuda_args);
  add(plain.flags());
  add({"-I.", "-fatbin", plain.path(), "-o", s.code.string()});
  child_options options;
  options.directory = c.where.root;
  options.environment = {"TMPDIR=" + folder.string(), "PWD=" + c.where.root.string(), "LC_ALL=C"};
  options.keep_bytes = 1 << 20;
  options.tick = now.tick;
  options.command = command;
  options.command.emplace_back(no_special_functions);
  auto result = run_child(options, compile_limit_s);
  if (result.end.how == child_end::cause::exited && !result.end.ok()) {
    options.command = std::move(command);
    result = run_child(std::move(options), compile_limit_s);
  }
  if (result.end.ok()) return s;
  refuse_what_is_not_the_students_fault(result, folder);
  const std::string said = plain.as_typed(result.err + result.out);
  const auto errors = parse_diagnostics(said);
  s.compile_errors = errors.empty()
                         ? std::vector<std::string>{"the compiler failed:", said}
                         : explain(errors[0], errors.size(), c.where,
                                   quotable_for(s.source, c.where,
                                                {s.source.parent_path(), c.where.root / "labs"}));
  return s;
}

ptx_subject find_subject(context& c, const ptx_options& o, const fs::path& folder) {
  if (!o.file.empty() && !o.step.empty())
    refuse("STEP and --file exclude each other: use only one of them");
  if (o.lab.empty()) {
    if (o.file.empty())
      refuse("name a step or a file: ./lab ptx LAB STEP, or ./lab ptx --file FILE.cu");
    return compile_alone(c, o.file, folder);
  }
  const lab l = load_lab(c.where.build, o.lab);
  const subject s = prepare(c, l, o.file, o.step);
  const fs::path source = !o.step.empty()  ? c.where.root / find_step(l, o.step).file
                          : o.file.empty() ? c.where.root / l.file
                                           : fs::absolute(o.file);
  return {s.shown, source, s.program, s.compile_errors};
}

std::uint32_t chosen_sm() {
  const auto model = find_gpu(engine_settings::from_environment().gpu_or_default());
  if (!model.ok()) refuse("STEPWISE_GPU: " + model.failure().message);
  return static_cast<std::uint32_t>((*model).compute_capability());
}

// Machine code --------------------------------------------------------------------------------

// Finds a tool on PATH, or next to nvcc.
std::string find_tool(const installation& where, const std::string& name) {
  if (const std::string found = on_path(name); !found.empty()) return found;
  const fs::path beside = fs::path(where.nvcc).parent_path() / name;
  std::error_code ignored;
  return !where.nvcc.empty() && fs::exists(beside, ignored) ? beside.string() : std::string();
}

// Both tools print code as "  /*0010*/  TEXT ; /* 0x... */", function by function. cuobjdump names
// the function as "Function : NAME", nvdisasm as a section ".text.NAME:".
std::map<std::string, machine_text> parse_machine_text(const std::string& printed) {
  std::map<std::string, machine_text> out;
  machine_text* current = nullptr;
  for (const std::string& line : split_lines(printed)) {
    const auto first = line.find_first_not_of(" \t");
    if (first == std::string::npos) continue;
    const std::string_view text = std::string_view(line).substr(first);
    if (text.starts_with("Function : ")) {
      current = &out[std::string(text.substr(11))];
    } else if (text.starts_with(".text.") && text.ends_with(":")) {
      current = &out[std::string(text.substr(6, text.size() - 7))];
    } else if (text.starts_with("/*") && current != nullptr) {
      std::uint32_t offset = 0;
      const auto [after, error] = std::from_chars(text.begin() + 2, text.end(), offset, 16);
      const std::string_view rest(after, static_cast<std::size_t>(text.end() - after));
      const auto begin = rest.find_first_not_of(" \t", 2), end = rest.find(';');
      if (error != std::errc{} || !rest.starts_with("*/") || end == std::string_view::npos ||
          begin >= end) {
        continue;
      }
      std::string code(rest.substr(begin, end - begin));
      while (!code.empty() && code.back() == ' ') code.pop_back();
      (*current)[offset] = std::move(code);
    }
  }
  return out;
}

// The disassembly of a cubin. Empty, with a reason, if no tool can disassemble it.
std::map<std::string, machine_text> disassembled(context& c, const std::vector<std::byte>& cubin,
                                                 const fs::path& folder, std::string& reason) {
  if (cubin.empty()) {
    reason = "the program contains no machine code for this PTX";
    return {};
  }
  const std::string cuobjdump = find_tool(c.where, "cuobjdump");
  const std::string nvdisasm = find_tool(c.where, "nvdisasm");
  if (cuobjdump.empty() && nvdisasm.empty()) {
    reason = no_disassembler;
    return {};
  }
  const fs::path file = folder / "code.cubin";
  write_atomically(file, {reinterpret_cast<const char*>(cubin.data()), cubin.size()});
  child_options options;
  options.command = cuobjdump.empty() ? std::vector<std::string>{nvdisasm, "-c", file}
                                      : std::vector<std::string>{cuobjdump, "-sass", file};
  options.keep_bytes = 64 << 20;
  options.flood_bytes = 256 << 20;
  const auto result = run_child(std::move(options), disassemble_limit_s);
  if (!result.end.ok()) {
    reason = "machine code: " + fs::path(cuobjdump.empty() ? nvdisasm : cuobjdump).string() +
             " failed with this message: " + result.err.substr(0, 200);
    return {};
  }
  return parse_machine_text(result.out);
}

// Kernels -------------------------------------------------------------------------------------

struct listed {
  std::vector<kernel_listing> kernels;
  std::vector<std::string> others;  // library kernels, shown by name only
  std::string no_machine_code;      // why --machine shows none
};

listed list_kernels(context& c, const ptx_subject& s, const ptx_options& o, const fs::path& folder,
                    emulator::source_text& sources) {
  const auto parts = read_device_parts(s.code, chosen_sm());
  if (!parts) throw failure(exit_code::ours, s.code.string() + " cannot be read; run ./lab setup");
  listed out;
  std::vector<std::string> names;
  for (const device_part& part : *parts) {
    const ptx::module m(part.ptx);
    image::cubin tables;
    if (!part.cubin.empty()) {
      if (auto read = image::read_cubin(part.cubin); read.ok()) tables = std::move(*read);
    }
    std::map<std::string, machine_text> shown;
    if (o.machine) shown = disassembled(c, part.cubin, folder, out.no_machine_code);
    const auto lines = split_lines(part.ptx);
    for (const ptx::function& f : m.functions) {
      if (!f.is_entry || f.is_declaration) continue;
      const auto found = tables.kernels.find(f.name);
      kernel_listing k =
          list_kernel(m, lines, f, found == tables.kernels.end() ? nullptr : &found->second,
                      shown[std::string(f.name)], sources);
      names.push_back(k.name);
      if (o.kernel.empty() ? k.of_user : k.name.find(o.kernel) != std::string::npos) {
        out.kernels.push_back(std::move(k));
      } else {
        out.others.push_back(std::move(k.name));
      }
    }
  }
  if (names.empty()) refuse(s.shown + " has no kernel with PTX for this GPU");
  if (out.kernels.empty() && !o.kernel.empty()) {
    std::string all;
    for (const std::string& name : names) all += "\n  " + name;
    refuse("no kernel name contains \"" + o.kernel + "\"; the kernels are" + all);
  }
  // nvcc writes kernels in an order that means nothing to a reader.
  std::stable_sort(out.kernels.begin(), out.kernels.end(), [](const auto& a, const auto& b) {
    return !a.lines.empty() && !b.lines.empty() && a.lines[0].file == b.lines[0].file &&
           a.lines[0].line < b.lines[0].line;
  });
  return out;
}

json row_json(const ptx_row& row) {
  json j = {{"text", row.text}, {"kind", row.kind}};
  j["machine_instructions"] = row.machine_instructions;
  j["loop"] = row.loop == no_loop ? json(nullptr) : json(row.loop);
  j["note"] = row.note;
  j["inlined"] = row.inlined;
  j["machine_code"] = row.machine_code;
  return j;
}

json loop_json(const ptx_loop& l, bool knows_machine_code) {
  json j = {{"file", l.file},
            {"first_line", l.first_line},
            {"last_line", l.last_line},
            {"depth", l.depth},
            {"innermost", l.is_innermost},
            {"remainder", l.is_remainder},
            {"branches", l.has_branches},
            {"unrolled", l.unrolled}};
  j["ptx_instructions"] = l.ptx;
  j["machine_instructions"] = knows_machine_code ? json(l.machine) : json(nullptr);
  j["copies"] = l.copies;
  j["kinds"] = json::array();
  for (const kind_count& k : l.kinds) {
    j["kinds"].push_back(
        {{"kind", k.kind},
         {"ptx_instructions", k.ptx},
         {"machine_instructions", knows_machine_code ? json(k.machine) : json(nullptr)},
         {"bytes", k.bytes}});
  }
  j["fma"] = l.fma;
  j["global_bytes_per_fma"] =
      l.fma > 0 ? json(double(l.loaded_global_bytes) / l.fma) : json(nullptr);
  j["shared_bytes_per_fma"] =
      l.fma > 0 ? json(double(l.loaded_shared_bytes) / l.fma) : json(nullptr);
  return j;
}

json kernel_json(const kernel_listing& k, const ptx_view& view) {
  json j = {{"name", k.name}, {"ptx_name", k.ptx_name}};
  const bool known = k.knows_machine_code;
  j["registers"] = k.registers > 0 ? json(k.registers) : json(nullptr);
  j["shared_bytes"] = k.registers > 0 ? json(k.shared_bytes) : json(nullptr);
  j["stack_bytes"] = k.registers > 0 ? json(k.stack_bytes) : json(nullptr);
  j["ptx_instructions"] = k.ptx_instructions;
  j["machine_instructions"] = known ? json(k.machine_instructions) : json(nullptr);
  j["merged"] = k.groups;
  j["dropped"] = k.dropped;
  j["undecided"] = k.undecided;
  j["loops"] = json::array();
  for (const ptx_loop& l : k.loops) j["loops"].push_back(loop_json(l, known));
  j["lines"] = json::array();
  for (const ptx_source_line& l : k.lines) {
    if (view.line != 0 && (l.line != view.line || l.file != view.file)) continue;
    json rows = json::array();
    for (const ptx_row& row : l.rows) rows.push_back(row_json(row));
    j["lines"].push_back({{"file", l.file}, {"line", l.line}, {"source", l.source}, {"ptx", rows}});
  }
  return j;
}

[[noreturn]] void refuse_uncompiled(const ptx_subject& s) {
  throw failure(exit_code::student,
                s.shown + " does not compile: " + joined(s.compile_errors, "\n"));
}

int ptx(context& c, const ptx_options& o) {
  const temporary_folder folder(plain_temporary_path());
  const ptx_subject s = find_subject(c, o, folder.path());
  if (!s.compile_errors.empty()) refuse_uncompiled(s);
  emulator::source_text sources({c.where.root, fs::current_path()});
  const listed all = list_kernels(c, s, o, folder.path(), sources);
  // The file as the compiler named it in its kernels.
  ptx_view view{s.source.lexically_normal().string(), static_cast<std::uint32_t>(o.line)};
  for (const kernel_listing& k : all.kernels) {
    for (const ptx_source_line& l : k.lines) {
      if (fs::path(l.file).filename() == s.source.filename()) view.file = l.file;
    }
  }
  if (c.as_json) {
    json document = {{"subject", s.shown}, {"file", c.where.shown(s.source)}};
    document["kernels"] = json::array();
    for (const kernel_listing& k : all.kernels) document["kernels"].push_back(kernel_json(k, view));
    document["others"] = all.others;
    c.print(document);
    return 0;
  }
  for (const kernel_listing& k : all.kernels) show_kernel(c, k, view, sources);
  show_legend(c, all.kernels);
  if (!all.others.empty()) {
    const std::size_t n = all.others.size();
    const std::string what = o.kernel.empty() ? "kernel" : "other kernel";
    c.out.paragraph(fmt::format("Not shown: {} {}{}{}; use --kernel NAME to show one.", n, what,
                                n == 1 ? "" : "s", o.kernel.empty() ? " of libraries" : ""),
                    2, "  ", tone::dim);
  }
  if (!all.no_machine_code.empty()) c.out.paragraph(all.no_machine_code, 2, "  ", tone::note);
  return 0;
}

const verb ptx_verb(
    {verb_place::group::examine, 30}, "ptx", "show the PTX of each source line",
    "  ./lab ptx reduction                      your file\n"
    "  ./lab ptx reduction 03_sequential        a solution step\n"
    "  ./lab ptx reduction 03 --line 27         one source line with all its instructions\n"
    "  ./lab ptx reduction 03 --machine         also machine code, if cuobjdump is installed\n"
    "  ./lab ptx --file saxpy.cu --kernel saxpy one kernel of any .cu file",
    [](arguments& takes, ptx_options& o) {
      takes.add("LAB", o.lab, "the lab's name");
      takes.add_step("STEP", o.step, "a solution step instead of your file");
      takes.add("--file", o.file, "a .cu file; no LAB is needed");
      takes.add("--line", o.line, "show only this source line").positive();
      takes.add("--kernel", o.kernel, "show kernels whose names contain this");
      takes.flag("--machine", o.machine, "show machine code next to its PTX");
    },
    ptx);

}  // namespace
}  // namespace stepwise::cli
