// The `lab` program: options, help texts, and how errors reach people and scripts.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <functional>
#include <new>

#include "grader/cli/commands.hpp"
#include "grader/report/help_text.hpp"
#include "grader/report/text.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/signals.hpp"

namespace stepwise::cli {
namespace {

// One command: its options are bound when it is added; `action` runs it.
struct command_line {
  CLI::App app{"Stepwise: learn to optimise CUDA kernels, one idea at a time.", "./lab"};
  global_options globals;
  std::function<int(context&)> action;

  CLI::App* verb(const std::string& name, const std::string& what, const std::string& examples) {
    CLI::App* sub = app.add_subcommand(name, what);
    sub->fallthrough();
    sub->footer("Examples\n" + examples);
    return sub;
  }
};

// One's own input instead of the lab's sizes. Sets `verb` to what serves it.
void add_own_input(CLI::App& sub, run_options& with, int (*&verb)(context&, const run_options&)) {
  CLI::Option* image =
      sub.add_option("--image", with.image, "a picture to run on: PNG, PPM (P6) or PGM (P5)");
  CLI::Option* points = sub.add_option("--points", with.points,
                                       "points to run on: a line for each, of three numbers");
  sub.add_option("--out", with.out,
                 "a file for the result: .png, .ppm or .pgm; of points, any text file");
  sub.add_option(
      "--stages", with.stages,
      "a folder for the picture, each stage of the reference, the result, the difference");
  image->excludes(points);
  for (const char* other : {"--size", "--seed", "--counters"}) {
    image->excludes(sub.get_option(other));
    points->excludes(sub.get_option(other));
  }
  verb = run;
  image->each([&verb](const std::string&) { verb = run_picture; });
  points->each([&verb](const std::string&) { verb = run_points; });
}

void add_study_verbs(command_line& line) {
  CLI::App* sub =
      line.verb("list", "the labs, and how far you are", "  ./lab list\n  ./lab list --json");
  sub->callback([&line] { line.action = [](context& c) { return list(c); }; });

  static start_options start_with;
  sub = line.verb("start", "a new skeleton to work on; keeps what you wrote before",
                  "  ./lab start reduction                the lab's first exercise\n"
                  "  ./lab start reduction 03_sequential  any other step as an exercise");
  sub->add_option("LAB", start_with.lab, "the lab's name")->required();
  sub->add_option("STEP", start_with.step, "the step to write yourself");
  sub->callback([&line] { line.action = [](context& c) { return start(c, start_with); }; });

  static run_options run_with;
  sub = line.verb("run", "is it right, and what does one call cost?",
                  "  ./lab run reduction                      your file, all check sizes\n"
                  "  ./lab run reduction --size 1023 --seed 7 one size again\n"
                  "  ./lab run reduction --step 03            a worked solution\n"
                  "  ./lab run reduction --file try.cu        another file\n"
                  "  ./lab run reduction --step 02 --counters what each line costs the hardware\n"
                  "  ./lab run blur --image me.png --out edges.png  a picture of your own\n"
                  "  ./lab run neighbour --points mine.xyz    points of your own");
  sub->add_option("LAB", run_with.lab, "the lab's name")->required();
  sub->add_option("--file", run_with.file, "a .cu file other than your own");
  sub->add_option("--step", run_with.step, "a solution step instead of a file");
  sub->add_option("--size", run_with.size, "one size only, like 1023 or 512x256");
  sub->add_option("--seed", run_with.seed, "of the random inputs (7)");
  sub->add_flag("--counters", run_with.counters,
                "line by line: sectors, bank conflicts, cache hits, divergence");
  static int (*run_verb)(context&, const run_options&) = nullptr;
  add_own_input(*sub, run_with, run_verb);
  sub->callback([&line] { line.action = [](context& c) { return run_verb(c, run_with); }; });

  static check_options check_with;
  sub = line.verb("check", "races, bounds, barriers and more: what is wrong, and at which line",
                  "  ./lab check reduction                      your file, small sizes\n"
                  "  ./lab check reduction --size 1023 --seed 7 one size\n"
                  "  ./lab check reduction --step 03            a worked solution\n"
                  "  ./lab check reduction --json               for programs, see grader/JSON.md");
  sub->add_option("LAB", check_with.lab, "the lab's name")->required();
  sub->add_option("--file", check_with.file, "a .cu file other than your own");
  sub->add_option("--step", check_with.step, "a solution step instead of a file");
  sub->add_option("--size", check_with.size, "one size only, like 1023 or 512x256");
  sub->add_option("--seed", check_with.seed, "of the random inputs (7)");
  sub->callback([&line] { line.action = [](context& c) { return check(c, check_with); }; });

  static grade_options grade_with;
  static std::uint64_t grade_seed = 0;
  sub = line.verb("grade", "points: right results, checks, counters, then speed (on a GPU)",
                  "  ./lab grade reduction                 your file\n"
                  "  ./lab grade reduction --file try.cu   another file\n"
                  "  ./lab grade reduction --seed 1234     the same inputs again");
  sub->add_option("LAB", grade_with.lab, "the lab's name")->required();
  sub->add_option("--file", grade_with.file, "a .cu file other than your own");
  CLI::Option* seed =
      sub->add_option("--seed", grade_seed, "of the random inputs (new every time)");
  sub->callback([&line, seed] {
    if (seed->count() > 0) grade_with.seed = grade_seed;
    line.action = [](context& c) { return grade(c, grade_with); };
  });

  static pack_options pack_with;
  sub = line.verb(
      "pack", "an archive to hand in: your file, your answers, the grade they have here",
      "  ./lab pack reduction                       reduction-USER.tar.gz, in this folder\n"
      "  ./lab pack reduction --output mine.tar.gz  another name\n"
      "  tar -tvzf mine.tar.gz                      what is in it\n\n"
      "What does not compile, or cannot be graded here, is packed, too; a warning says so.");
  sub->add_option("LAB", pack_with.lab, "the lab's name")->required();
  sub->add_option("--output", pack_with.output, "the archive's name; nothing is overwritten");
  sub->callback([&line] { line.action = [](context& c) { return pack(c, pack_with); }; });

  static hint_options hint_with;
  sub = line.verb(
      "hint", "help in small portions",
      "  ./lab hint reduction     what there is\n  ./lab hint reduction 1   the first one");
  sub->add_option("LAB", hint_with.lab, "the lab's name")->required();
  sub->add_option("N", hint_with.number, "the hint's number");
  sub->callback([&line] { line.action = [](context& c) { return hint(c, hint_with); }; });
}

void add_solution_verbs(command_line& line) {
  static walk_options walk_with;
  CLI::App* sub =
      line.verb("walk", "all versions of a lab: idea, diff, correctness, figures, limit",
                "  ./lab walk reduction                      from the first to the last\n"
                "  ./lab walk reduction --step 03_sequential one of them\n"
                "  ./lab walk reduction --device gpu         measured, or an error");
  sub->add_option("LAB", walk_with.lab, "the lab's name")->required();
  sub->add_option("--step", walk_with.step, "one step only");
  sub->add_option("--seed", walk_with.seed, "of the random inputs (7)");
  sub->callback([&line] { line.action = [](context& c) { return walk(c, walk_with); }; });

  static diff_options diff_with;
  sub = line.verb("diff", "what changes between two versions",
                  "  ./lab diff reduction 02 03             two steps\n"
                  "  ./lab diff reduction 03_sequential mine  a step and your file");
  sub->add_option("LAB", diff_with.lab, "the lab's name")->required();
  sub->add_option("A", diff_with.before, "a step, a file, or mine")->required();
  sub->add_option("B", diff_with.after, "a step, a file, or mine")->required();
  sub->add_flag("--headers", diff_with.headers, "compare the leading comments too");
  sub->callback([&line] { line.action = [](context& c) { return diff(c, diff_with); }; });

  static bench_options bench_with;
  sub = line.verb(
      "bench", "all versions side by side, measured in turns",
      "  ./lab bench reduction                 at the lab's sizes\n"
      "  ./lab bench reduction --sizes 1048576,268435456\n"
      "  ./lab bench reduction --record        and keep the result (GPU only)\n"
      "  ./lab bench matmul --peers            beside NVIDIA's libraries and the CPU\n"
      "  ./lab bench matmul --cpu --sizes 2048 only the CPU, which needs no GPU\n"
      "  ./lab bench --readme                  tables of README.md and the handouts from the "
      "records");
  sub->add_option("LAB", bench_with.lab, "the lab's name");
  sub->add_option("--sizes", bench_with.sizes, "sizes other than the lab's")->delimiter(',');
  sub->add_flag("--record", bench_with.record, "write solutions/LAB/measured/GPU.json");
  sub->add_flag("--peers", bench_with.peers,
                "measure what peers.txt lists, too; without a GPU: on the CPU");
  sub->add_flag("--cpu", bench_with.cpu, "only measure what peers.txt lists for the CPU");
  sub->add_flag("--readme", bench_with.readme, "only write the results tables of the READMEs");
  sub->callback([&line] { line.action = [](context& c) { return bench(c, bench_with); }; });
}

void add_ptx(command_line& line) {
  static ptx_options ptx_with;
  CLI::App* sub = line.verb(
      "ptx", "source lines beside the PTX they became, and what the inner loops execute",
      "  ./lab ptx reduction                      your file\n"
      "  ./lab ptx reduction 03_sequential        a solution step\n"
      "  ./lab ptx reduction 03 --line 27         one source line, with all of its instructions\n"
      "  ./lab ptx reduction 03 --machine         machine code too, where cuobjdump is installed\n"
      "  ./lab ptx --file saxpy.cu --kernel saxpy any .cu, one of its kernels");
  sub->add_option("LAB", ptx_with.lab, "the lab's name");
  sub->add_option("STEP", ptx_with.step, "a solution step instead of your file");
  sub->add_option("--file", ptx_with.file, "a .cu file; no LAB is needed");
  sub->add_option("--line", ptx_with.line, "one source line only")->check(CLI::PositiveNumber);
  sub->add_option("--kernel", ptx_with.kernel, "kernels with this in their names");
  sub->add_flag("--machine", ptx_with.machine, "machine code beside its PTX");
  sub->callback([&line] { line.action = [](context& c) { return ptx(c, ptx_with); }; });
}

void add_sweep(command_line& line) {
  static sweep_options sweep_with;
  CLI::App* sub = line.verb(
      "sweep", "one version in many configurations: threads, tiles, registers, sizes",
      "  ./lab sweep launch                                   the lab's own sweep\n"
      "  ./lab sweep launch 03 --over threads=32..1024 --over items=1,2,4,8\n"
      "  ./lab sweep launch mine --over threads=64..256+64    your file; 64, 128, 192, 256\n"
      "  ./lab sweep transpose 05 --over tile=8,16,32         any constant at the file's top\n"
      "  ./lab sweep matmul 09 --over registers=none,96,64    the compiler's cap on registers\n"
      "  ./lab sweep launch 02 --over n=2^10..2^20            the problem's size\n"
      "  ./lab sweep transpose 06 --over tile=16,32 --counter "
      "shared_load_wavefronts_per_request\n\n"
      "A..B doubles, A..B+S adds S. Each configuration is compiled, checked and counted; with a\n"
      "GPU it is timed, too. At most 200 of them.");
  sub->add_option("LAB", sweep_with.lab, "the lab's name")->required();
  sub->add_option("STEP", sweep_with.step,
                  "a solution step, an experiment of the lab, or mine: your file");
  sub->add_option("--over", sweep_with.over, "NAME=VALUES: a constant, size, or registers")
      ->allow_extra_args(false);
  sub->add_option("--counter", sweep_with.counter,
                  "what to look at, of grader/GOALS.md, instead of instructions");
  sub->add_option("--file", sweep_with.file, "a .cu file other than your own");
  sub->add_option("--size", sweep_with.size, "the call's size, like 1048576 or 512x256");
  sub->add_option("--seed", sweep_with.seed, "of the random inputs (7)");
  sub->callback([&line] { line.action = [](context& c) { return sweep(c, sweep_with); }; });
}

void add_validate(command_line& line) {
  static validate_options validate_with;
  CLI::App* sub = line.verb(
      "validate", "the emulator's counters beside those of a GPU, as ncu reads them",
      "  ./lab validate reduction                 all steps, on a machine with a GPU and ncu\n"
      "  ./lab validate reduction 03 07 --size 1048576 --size 1000\n"
      "  ./lab validate reduction --record        and keep what the GPU counted, step by step\n"
      "  ./lab validate reduction 03 --record     this step only; what is recorded of others "
      "stays\n"
      "  ./lab validate reduction --recorded      the emulator against that record: no GPU needed");
  sub->add_option("LAB", validate_with.lab, "the lab's name")->required();
  sub->add_option("STEP", validate_with.steps, "these steps only");
  sub->add_option("--size", validate_with.sizes, "sizes other than two of the lab's check sizes")
      ->delimiter(',');
  sub->add_option("--runs", validate_with.runs, "calls of each size under ncu (5)");
  sub->add_flag("--record", validate_with.record, "write solutions/LAB/measured/GPU.counters.json");
  sub->add_flag("--recorded", validate_with.recorded, "compare with the records, not with a GPU");
  sub->add_flag("--all", validate_with.all, "every kernel in full, also those that agree");
  sub->callback([&line] { line.action = [](context& c) { return validate(c, validate_with); }; });
}

void add_limits(command_line& line) {
  static limits_options limits_with;
  CLI::App* sub = line.verb(
      "limits", "a step beside parts of itself: what is the limit, and what hides behind it?",
      "  ./lab limits matmul                      a step of the course and its parts\n"
      "  ./lab limits matmul --memory m.cu --compute c.cu  your file and your parts of it\n"
      "  ./lab limits matmul --step 07 --memory m.cu --compute c.cu  a step and your parts\n"
      "  ./lab limits matmul --record             and keep the result (GPU only)");
  sub->add_option("LAB", limits_with.lab, "the lab's name")->required();
  sub->add_option("--memory", limits_with.memory, "the .cu with the accesses and no arithmetic");
  sub->add_option("--compute", limits_with.compute, "the .cu with the arithmetic and no accesses");
  sub->add_option("--file", limits_with.file, "the whole: a .cu file other than your own");
  sub->add_option("--step", limits_with.step, "the whole: a solution step");
  sub->add_option("--size", limits_with.size, "a size other than the lab's largest");
  sub->add_option("--seed", limits_with.seed, "of the random inputs (7)");
  sub->add_flag("--record", limits_with.record, "write solutions/LAB/measured/GPU.limits.json");
  sub->callback([&line] { line.action = [](context& c) { return limits(c, limits_with); }; });
}

void add_exec(command_line& line) {
  static exec_options exec_with;
  static double seconds = 0;
  CLI::App* sub = line.verb(
      "exec", "run any CUDA program on the emulator: [OPTIONS] [--] PROGRAM ARGS...",
      "  nvcc --cudart=shared -arch=sm_90 -o saxpy saxpy.cu\n"
      "  ./lab exec ./saxpy 1000                  what follows PROGRAM is the program's\n"
      "  ./lab exec --time-limit 5 -- ./saxpy -v  a kernel may take 5 seconds\n"
      "  ./lab exec --check ./saxpy               and say what is wrong with it (nvcc -lineinfo\n"
      "                                           -Xcompiler -g1 adds source lines)\n"
      "  ./lab exec --counters ./saxpy            and what each line costs (nvcc -lineinfo)\n"
      "  ./lab exec --gpu h200 ./saxpy            which GPU to be\n\n"
      "Streams, signals and the exit status are the program's own; 128 + N tells that signal N\n"
      "ended it, 2 that it cannot run here, and why; with --check, 1 that something was found.");
  sub->add_option("--gpu", exec_with.gpu, "a name from common/gpus/ (h200), or a file like those");
  CLI::Option* limit =
      sub->add_option("--time-limit", seconds, "seconds for each kernel (no limit)");
  sub->add_flag("--check", exec_with.check, "find races, wrong addresses, barriers, leaks ...");
  sub->add_flag("--counters", exec_with.counters,
                "line by line: sectors, bank conflicts, cache hits, divergence");
  sub->add_option("--report", exec_with.report,
                  "with --check or --counters: a file for what comes of it, as JSON");
  sub->callback([&line, limit] {
    if (limit->count() > 0) exec_with.time_limit_s = seconds;
    line.action = [](context& c) {
      exec_with.command = c.program;
      return exec(c, exec_with);
    };
  });
}

void add_worth_it(command_line& line) {
  static worth_it_options worth_it_with;
  CLI::App* sub = line.verb(
      "worth-it", "is a problem worth a GPU? arithmetic against the transfer",
      "  ./lab worth-it --bytes 800M --flops 200G   to the GPU and back; operations of a call\n"
      "  ./lab worth-it matmul --size 4096          a lab's call\n"
      "  ./lab worth-it reduction --calls 100       100 calls on data that stays on the GPU\n"
      "  ./lab worth-it --bytes 1G --flops 10G --cpu-flops 500G --cpu-bandwidth 40G\n"
      "                                             against a CPU of yours\n\n"
      "K, M, G, T are powers of 1000; Ki, Mi, Gi, Ti of 1024.");
  sub->add_option("LAB", worth_it_with.lab, "a lab's call instead of --bytes and --flops");
  sub->add_option("--size", worth_it_with.size, "its size, like 4096 or 512x256");
  sub->add_option("--bytes", worth_it_with.bytes, "to the GPU and back, together");
  sub->add_option("--flops", worth_it_with.flops, "operations of one call");
  sub->add_option("--gpu-bytes", worth_it_with.gpu_bytes,
                  "that a call reads and writes in memory (as many as --bytes)");
  sub->add_option("--calls", worth_it_with.calls, "on the data while it is on the GPU (1)");
  sub->add_option("--link", worth_it_with.link,
                  "pcie3, pcie4, pcie5, nvlink-c2c or bytes per second, one way (pcie5)");
  sub->add_option("--gpu", worth_it_with.gpu,
                  "a name from common/gpus/, or a file like those (h200)");
  sub->add_option("--cpu-flops", worth_it_with.cpu_flops, "operations per second of your CPU");
  sub->add_option("--cpu-bandwidth", worth_it_with.cpu_bandwidth,
                  "bytes per second of your CPU's memory");
  sub->callback([&line] { line.action = [](context& c) { return worth_it(c, worth_it_with); }; });
}

void add_machine_verbs(command_line& line) {
  static env_options env_with;
  CLI::App* sub =
      line.verb("env", "run a program by hand: under gdb, ncu, compute-sanitizer",
                "  ./lab env reduction                 prints the environment and the commands\n"
                "  eval \"$(./lab env reduction)\"       sets the environment\n"
                "  ./lab env reduction --step 03 --size 1023");
  sub->add_option("LAB", env_with.lab, "the lab's name")->required();
  sub->add_option("--file", env_with.file, "a .cu file other than your own");
  sub->add_option("--step", env_with.step, "a solution step instead of a file");
  sub->add_option("--size", env_with.size, "the call's size");
  sub->add_flag("--check", env_with.check, "say whether the call that was run by hand is right");
  sub->add_option("--seed", env_with.seed, "of the random inputs (7)");
  sub->callback([&line] { line.action = [](context& c) { return env(c, env_with); }; });

  static test_options test_with;
  sub = line.verb(
      "test", "the course's own tests",
      "  ./lab test          all that this machine can run\n  ./lab test unit     one suite");
  sub->add_option("SUITE", test_with.suites, "suites or tests by name");
  sub->callback([&line] { line.action = [](context& c) { return test(c, test_with); }; });

  // The launcher's own; it stands here to be listed.
  line.verb("setup", "set up and build everything, the tests too; nothing else",
            "  ./lab setup            Debian packages are installed only as root or in CI\n"
            "  ./lab setup --unpack   they are unpacked into .packages/, without root");

  sub = line.verb("doctor", "what is here, and what a missing thing would enable",
                  "  ./lab doctor\n  ./lab doctor --json");
  sub->callback([&line] { line.action = [](context& c) { return doctor(c); }; });
}

// "lab: what\n     more" on stderr, or the one document on stdout.
int report_failure(const failure& error, bool as_json, const terminal_style& style) {
  const std::string message = error.what();
  if (message.empty()) return static_cast<int>(error.code());
  if (as_json) {
    const json document = {{"error", message}, {"exit_code", static_cast<int>(error.code())}};
    fmt::print("{}\n", document.dump(2, ' ', false, json::error_handler_t::replace));
    std::fflush(stdout);
    return static_cast<int>(error.code());
  }
  std::string text = style.paint(tone::bad, "lab:") + " ";
  for (const char c : message) text += c == '\n' ? std::string("\n     ") : std::string(1, c);
  fmt::print(stderr, "{}\n", text);
  return static_cast<int>(error.code());
}

void check_verb(const CLI::App& app, const std::vector<std::string>& arguments) {
  std::vector<std::string> names;
  for (const auto* sub : app.get_subcommands({})) names.push_back(sub->get_name());
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--device")
      ++i;
    else if (!arguments[i].starts_with('-')) {
      if (std::count(names.begin(), names.end(), arguments[i]) > 0) return;
      const std::string near = nearest(arguments[i], names);
      throw failure(exit_code::usage, "there is no command \"" + arguments[i] + "\"" +
                                          (near.empty() ? "" : "; did you mean \"" + near + "\"?") +
                                          "\n`./lab --help` lists the commands");
    }
  }
}

device_request parse_device(const std::string& text) {
  if (text == "auto") return device_request::automatic;
  if (text == "gpu") return device_request::gpu;
  if (text == "emulated") return device_request::emulated;
  throw failure(exit_code::usage, "--device " + text + ": expected auto, gpu or emulated");
}

// The command line, and what behind `exec` is another program's: from the first word on that is no
// option, or from behind "--".
struct split_words {
  std::vector<std::string> ours, program;
};

split_words split(int argc, char** argv) {
  split_words words{{argv + 1, argv + argc}, {}};
  const auto takes_value = [](const std::string& word) {
    return word == "--device" || word == "--gpu" || word == "--time-limit" || word == "--report";
  };
  bool behind_exec = false;
  for (auto word = words.ours.begin(); word != words.ours.end(); ++word) {
    if (takes_value(*word) && word + 1 != words.ours.end()) {
      ++word;
    } else if (*word == "--" || !word->starts_with('-')) {
      if (behind_exec) {
        words.program.assign(word + (*word == "--" ? 1 : 0), words.ours.end());
        words.ours.erase(word, words.ours.end());
        break;
      }
      if (*word != "exec") break;
      behind_exec = true;
    }
  }
  return words;
}

void print_document(const json& document) { fmt::print("{}\n", document.dump(2)); }

// Of the command that was named, else of all.
int print_help(const CLI::App& app, bool as_json) {
  const auto named = app.get_subcommands();
  const std::string text = fitted_help(named.empty() ? app.help() : named[0]->help());
  if (!as_json) {
    fmt::print("{}", text);
    return 0;
  }
  json document = {{"help", text}, {"commands", json::array()}};
  for (const auto* command : app.get_subcommands({})) {
    document["commands"].push_back(
        {{"name", command->get_name()}, {"description", command->get_description()}});
  }
  print_document(document);
  return 0;
}

int run_command(command_line& line, const split_words& words) {
  context c{load_own_installation(),
            line.globals.json,
            line.globals.no_color,
            parse_device(line.globals.device),
            output(detect_style(STDOUT_FILENO, !line.globals.no_color)),
            progress(true),
            words.ours,
            words.program};
  return line.action(c);
}

}  // namespace

int lab_main(int argc, char** argv) {
  const split_words words = split(argc, argv);
  const std::vector<std::string>& arguments = words.ours;
  // Known before parsing, which may fail: --json promises a document in that case, too.
  const bool as_json = std::count(arguments.begin(), arguments.end(), "--json") > 0;
  const bool plain = std::count(arguments.begin(), arguments.end(), "--no-color") > 0;
  const terminal_style style = detect_style(STDERR_FILENO, !plain);
  install_signal_handlers();
  command_line line;
  line.app.add_option("--device", line.globals.device, "auto (default), gpu or emulated");
  line.app.add_flag("--json", line.globals.json, "one JSON document on stdout, see grader/JSON.md");
  line.app.add_flag("--no-color,--no-colour", line.globals.no_color,
                    "no colours (or set NO_COLOR)");
  line.app.set_version_flag("--version", [] { return "lab " + load_own_installation().version; });
  line.app.footer(
      "Begin with\n  ./lab walk reduction     the versions of the first lab, explained and run\n"
      "  ./lab start reduction    your own file\n\n`./lab COMMAND --help` has examples.");
  add_study_verbs(line);
  add_solution_verbs(line);
  add_ptx(line);
  add_sweep(line);
  add_validate(line);
  add_limits(line);
  add_worth_it(line);
  add_exec(line);
  add_machine_verbs(line);
  try {
    check_verb(line.app, arguments);
    line.app.parse(
        std::vector<std::string>(arguments.rbegin(), arguments.rend()));  // from the back
    if (!line.action) return print_help(line.app, as_json);
    return run_command(line, words);
  } catch (const CLI::CallForVersion& asked) {
    if (!as_json) return line.app.exit(asked);
    print_document({{"version", load_own_installation().version}});
    return 0;
  } catch (const CLI::CallForHelp&) {
    return print_help(line.app, as_json);
  } catch (const CLI::ParseError& error) {
    std::string verb;
    for (const auto* sub : line.app.get_subcommands()) verb = " " + sub->get_name();
    return report_failure(failure(exit_code::usage, std::string(error.what()) + "\n`./lab" + verb +
                                                        " --help` shows how"),
                          as_json, style);
  } catch (const failure& error) {
    return report_failure(error, as_json, style);
  } catch (const std::bad_alloc&) {
    return report_failure(failure(exit_code::environment, "out of memory; choose a smaller --size"),
                          as_json, style);
  } catch (const std::exception& error) {
    return report_failure(
        failure(exit_code::ours, std::string("a mistake of ours: ") + error.what()), as_json,
        style);
  }
}

}  // namespace stepwise::cli

int main(int argc, char** argv) { return stepwise::cli::lab_main(argc, argv); }
