// A device in a few maps, for the runtime's own tests: it runs no kernels but records what it
// is asked, and fails where a test requests it.
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
  status no_device;                                // why there is no device
  status load_failure;                             // of every module
  status launch_failure;                           // of the next launch
  status fault;                                    // met by the next synchronize()
  bool remote = false;                             // it is in another process
  std::uint64_t leave = 0;                         // the next launch is left, with this number
  std::set<std::uint64_t> running;                 // launches that were left
  std::vector<finding> findings;                   // to be taken next
  // Recorded by the device.
  int devices_made = 0;
  int modules_loaded = 0, modules_unloaded = 0;
  std::vector<std::size_t> module_bytes;
  std::vector<recorded_launch> launches;
  int copies = 0;
  std::vector<std::string> checks;     // calls that only devices that check need
  std::vector<std::uint64_t> origins;  // of the launches
};
control& controls();

// A clean runtime: no device, no error on this thread, `controls()` as at the start.
void reset();

}  // namespace stepwise::fake
