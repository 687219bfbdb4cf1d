// The commands of `lab`, one function each. Each returns the exit code, and throws failure where it
// cannot go on. Help texts and options are in main.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "grader/cli/context.hpp"

namespace stepwise::cli {

int list(context& c);

struct start_options {
  std::string lab, step;
};
int start(context& c, const start_options& o);

struct run_options {
  std::string lab, file, step, size;
  std::uint64_t seed = 7;
  bool counters = false;  // line by line, on the emulator
  std::string image;      // a picture to run on, instead of the lab's sizes
  std::string points;     // or a file of points
  std::string out;        // a file for the result; empty: none
  std::string stages;     // a folder for the reference's stages, the result and the difference
};
int run(context& c, const run_options& o);
// The same with --image, and with --points.
int run_picture(context& c, const run_options& o);
int run_points(context& c, const run_options& o);

struct check_options {
  std::string lab, file, step, size;
  std::uint64_t seed = 7;
};
int check(context& c, const check_options& o);

struct diff_options {
  std::string lab, before, after;
  bool headers = false;
};
int diff(context& c, const diff_options& o);

struct ptx_options {
  std::string lab, step, file, kernel;
  int line = 0;  // 0: all
  bool machine = false;
};
int ptx(context& c, const ptx_options& o);

struct walk_options {
  std::string lab, step;
  std::uint64_t seed = 7;
};
int walk(context& c, const walk_options& o);

struct grade_options {
  std::string lab, file;
  std::optional<std::uint64_t> seed;
};
int grade(context& c, const grade_options& o);
// What grade --json prints of a file, as pack keeps it.
json grade_document(context& c, const lab& l, const grade_options& o);

struct pack_options {
  std::string lab, output;  // empty: LAB-USER.tar.gz in the current folder
};
int pack(context& c, const pack_options& o);

struct bench_options {
  std::string lab;
  bool record = false, readme = false, peers = false;
  bool cpu = false;  // only the peers on the CPU
  std::vector<std::string> sizes;
};
int bench(context& c, const bench_options& o);

struct sweep_options {
  std::string lab, step, file, size, counter;
  std::vector<std::string> over;
  std::uint64_t seed = 7;
};
int sweep(context& c, const sweep_options& o);

struct validate_options {
  std::string lab;
  std::vector<std::string> steps, sizes;
  int runs = 5;  // of each call under ncu
  bool record = false, recorded = false, all = false;
};
int validate(context& c, const validate_options& o);

struct limits_options {
  std::string lab, file, step, size;
  std::string memory, compute;  // a student's own parts; both empty: the course's
  std::uint64_t seed = 7;
  bool record = false;
};
int limits(context& c, const limits_options& o);

struct env_options {
  std::string lab, file, step, size;
  bool check = false;
  std::uint64_t seed = 7;
};
int env(context& c, const env_options& o);

struct hint_options {
  std::string lab;
  int number = 0;
};
int hint(context& c, const hint_options& o);

struct test_options {
  std::vector<std::string> suites;
};
int test(context& c, const test_options& o);

int doctor(context& c);

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
int worth_it(context& c, const worth_it_options& o);

struct exec_options {
  std::vector<std::string> command;  // the program and its arguments
  std::string gpu;                   // empty: STEPWISE_GPU, else the runtime's own choice
  std::optional<double> time_limit_s;
  bool check = false;     // with all of the emulator's checks on
  bool counters = false;  // counted line by line
  std::string report;     // a file for what was found and counted, as JSON; empty: none
};
int exec(context& c, const exec_options& o);

// Shared with walk and diff: the coloured hunks between two sources, indented by two columns.
// Leading comments are left out unless `headers`. False if there is no difference.
bool show_diff(context& c, const std::string& before_name, const std::string& before,
               const std::string& after_name, const std::string& after, bool headers);

}  // namespace stepwise::cli
