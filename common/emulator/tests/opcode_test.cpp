// Runs the tests of opcodes/ on the emulator or on a GPU: opcode_test emulated|gpu FOLDER [NAME...]
//
// Each .ptx file is loaded as it is; a GPU's driver compiles it, the emulator interprets it. Both
// must answer as its comments say. Exit status 77: no GPU.
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

// Runs a file's cases on a fresh device, and on another after each case that lost it.
void run_file(const std::string& kind, const opcodes::test_file& file, totals& sum) {
  std::unique_ptr<device> on;
  stepwise::module_handle module{};
  for (const opcodes::test_case& what : file.cases) {
    ++sum.cases;
    std::vector<std::string> differences;
    if (!on) {
      std::string why;
      on = make_device(kind, why);
      if (!on) {
        std::printf("%s.ptx: no device any more: %s\n", file.name.c_str(), why.c_str());
        ++sum.failed;
        return;
      }
      auto loaded = on->load_module(std::as_bytes(std::span(file.ptx)));
      if (!loaded.ok()) {
        std::printf("%s.ptx: loading: error %d %s\n", file.name.c_str(),
                    static_cast<int>(loaded.failure().code), loaded.failure().message.c_str());
        ++sum.failed;
        return;
      }
      module = *loaded;
    }
    differences = opcodes::run_case(*on, kind == "emulated", module, file, what);
    for (const std::string& line : differences) std::printf("%s\n", line.c_str());
    if (!differences.empty()) ++sum.failed;
    const bool lost = !on->synchronize().ok();
    if (lost) on.reset();
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3 ||
      (std::string(arguments[1]) != "gpu" && std::string(arguments[1]) != "emulated")) {
    std::fprintf(stderr, "usage: opcode_test emulated|gpu FOLDER [NAME...]\n");
    return 2;
  }
  const std::string kind = arguments[1];
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // what was found before a crash is not lost
  totals sum;
  try {
    const std::vector<opcodes::test_file> files = opcodes::read_folder(arguments[2]);
    std::string why;
    if (!make_device(kind, why)) {
      std::fprintf(stderr, "opcode_test: no device: %s\n", why.c_str());
      return skipped;
    }
    for (const opcodes::test_file& file : files) {
      bool wanted = count == 3;
      for (int i = 3; i < count; ++i) wanted = wanted || file.name == arguments[i];
      if (wanted) run_file(kind, file, sum);
    }
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "opcode_test: %s\n", problem.what());
    return 1;
  }
  std::printf("%u cases, %u failed\n", sum.cases, sum.failed);
  return sum.failed == 0 && sum.cases > 0 ? 0 : 1;
}
