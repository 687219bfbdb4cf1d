// A device for the runtime's own tests, made of a few maps. It runs no kernels, but records its
// calls, and fails where a test requests a failure.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/report/finding.hpp"

namespace stepwise::fake {

struct recorded_launch {
  std::string kernel;
  launch_config config;
  std::vector<std::byte> parameters;
};

// State that all fake devices of the process share; reset() before each test.
struct control {
  // Set by the tests.
  std::map<std::string, kernel_attributes> kernels;
  std::map<std::string, std::uint64_t> variables;  // name, bytes
  status no_device;                                // the reason why there is no device
  status load_failure;                             // of every module
  status launch_failure;                           // of the next launch
  status fault;                                    // returned by the next synchronize()
  bool remote = false;                             // the device is in another process
  std::uint64_t leave = 0;          // the next launch is left running, with this number
  std::set<std::uint64_t> running;  // launches that were left running
  std::vector<finding> findings;    // to be taken next
  // Recorded by the device.
  int devices_made = 0;
  int modules_loaded = 0, modules_unloaded = 0;
  std::vector<std::size_t> module_bytes;
  std::vector<recorded_launch> launches;
  int copies = 0;
  std::vector<std::string> checks;     // calls that only devices with checks need
  std::vector<std::uint64_t> origins;  // of the launches
};
control& controls();

// Resets the runtime: no device, no error on this thread, and `controls()` as at the start.
void reset();

}  // namespace stepwise::fake
