// Runs the tests of opcodes/ on the emulator or on a GPU: opcode_test emulated|gpu FOLDER [NAME...]
//
// A GPU's driver compiles the module of each file, and the emulator interprets the same module.
// Both must give the results in the file's comments. Exit status 77: no GPU.
// `opcode_test ptx FOLDER [NAME...]` prints the modules.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/device/device.hpp"
#include "common/emulator/tests/opcode_case.hpp"

namespace {

using stepwise::device;
namespace opcodes = stepwise::opcodes;

constexpr int skipped = 77;

std::unique_ptr<device> make_device(const std::string& kind, std::string& why) {
  if (kind == "gpu") return stepwise::make_gpu_device(0, why);
  stepwise::result<stepwise::gpu> model = stepwise::find_gpu("h200");
  if (model.ok()) return stepwise::make_emulated_device(*model);
  why = model.failure().message;
  return nullptr;
}

struct totals {
  unsigned cases = 0, failed = 0;
};

// The report of a process that ran part of a file, to the process that waits for it.
struct part_report {
  totals sum;
  std::size_t next = 0;  // the first case that was not run
};

// Runs a file's cases from `first` onwards, up to a case that loses the device.
part_report run_part(const std::string& kind, const opcodes::test_file& file, std::size_t first) {
  part_report report{{}, first};
  auto give_up = [&](const std::string& why) {
    std::printf("%s.ptx: %s\n", file.name.c_str(), why.c_str());
    ++report.sum.failed;
    report.next = file.cases.size();
    return report;
  };
  std::string why;
  const std::unique_ptr<device> on = make_device(kind, why);
  if (!on) return give_up("the device is lost: " + why);
  auto module = on->load_module(std::as_bytes(std::span(file.ptx)));
  if (!module.ok()) return give_up("cannot load the module: " + module.failure().message);
  while (report.next < file.cases.size()) {
    const opcodes::test_case& what = file.cases[report.next++];
    ++report.sum.cases;
    const auto differences = opcodes::run_case(*on, kind == "emulated", *module, file, what);
    for (const std::string& line : differences) std::printf("%s\n", line.c_str());
    if (!differences.empty()) ++report.sum.failed;
    if (!on->synchronize().ok()) break;
  }
  return report;
}

// Runs `work` in its own process, because a lost GPU stays lost for its process, and a crash ends
// only one file's test. Returns false if the process died.
template <class Result, class Work>
bool in_own_process(Result& answer, Work&& work) {
  int ends[2];
  if (pipe(ends) != 0) return false;
  std::fflush(stdout);
  const pid_t child = fork();
  if (child < 0) return false;
  if (child == 0) {
    const Result made = work();
    std::fflush(stdout);
    _exit(write(ends[1], &made, sizeof made) == sizeof made ? 0 : 1);
  }
  close(ends[1]);
  const bool has_answer = read(ends[0], &answer, sizeof answer) == sizeof answer;
  close(ends[0]);
  int ended = 0;
  waitpid(child, &ended, 0);
  return has_answer;
}

void run_file(const std::string& kind, const opcodes::test_file& file, totals& sum) {
  for (std::size_t next = 0; next < file.cases.size();) {
    part_report report;
    if (!in_own_process(report, [&] { return run_part(kind, file, next); })) {
      std::printf("%s.ptx: the process that ran it died\n", file.name.c_str());
      ++sum.failed;
      return;
    }
    sum.cases += report.sum.cases;
    sum.failed += report.sum.failed;
    next = report.next;
  }
}

// Whether there is any device.
bool find_device(const std::string& kind) {
  bool found = false;
  const bool lived = in_own_process(found, [&] {
    std::string why;
    if (make_device(kind, why)) return true;
    std::fprintf(stderr, "opcode_test: no device: %s\n", why.c_str());
    return false;
  });
  return lived && found;
}

}  // namespace

int main(int count, char** arguments) {
  const std::string kind = count < 3 ? "" : arguments[1];
  if (kind != "gpu" && kind != "emulated" && kind != "ptx") {
    std::fprintf(stderr, "usage: opcode_test emulated|gpu|ptx FOLDER [NAME...]\n");
    return 2;
  }
  totals sum;
  try {
    const auto files = opcodes::read_folder(arguments[2], {arguments + 3, arguments + count});
    if (kind != "ptx" && !find_device(kind)) return skipped;
    for (const opcodes::test_file& file : files) {
      if (kind == "ptx") {
        std::fputs(file.ptx.c_str(), stdout);
      } else {
        run_file(kind, file, sum);
      }
    }
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "opcode_test: %s\n", problem.what());
    return 1;
  }
  if (kind == "ptx") return 0;
  std::printf("%u cases, %u failed\n", sum.cases, sum.failed);
  return sum.failed == 0 && sum.cases > 0 ? 0 : 1;
}
