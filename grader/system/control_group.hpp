// A Linux control group for a child: limits the total memory and processes of all its descendants.
//
// idea    The group is a folder below our own group's folder in each hierarchy that has the two
//         controllers: one in version 2, two in version 1. We try to create the folder to find out
//         whether we may.
// watch   In version 2, a group with processes cannot have controlled groups below it, except for
//         the root. Unless a service manager delegated a group to us, no group can be made.
// Tested by sandbox/tests/sandbox_test.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace stepwise {

struct group_limits {
  std::uint64_t memory_bytes = 0;  // of all processes, with shared memory and files in memory
  int processes = 0;               // and threads; 0: no limit
};

class control_group {
 public:
  // Null if no group can be made. `why_not` gets the reason in a few words.
  static std::shared_ptr<control_group> make(const group_limits& limits, std::string& why_not);
  ~control_group();
  control_group(const control_group&) = delete;
  control_group& operator=(const control_group&) = delete;

  // Adds the calling process. Makes only async-signal-safe calls.
  void join() const;

  // Kills all members, saves the group's statistics, and removes the group.
  void end();

  // Valid after end().
  std::uint64_t peak_bytes() const { return peak_bytes_; }
  bool ran_out_of_memory() const { return out_of_memory_; }

 private:
  control_group() = default;
  std::vector<std::string> folders_;
  std::vector<std::string> members_;  // files to write a process's id into
  bool ended_ = false, out_of_memory_ = false;
  std::uint64_t peak_bytes_ = 0;
};

}  // namespace stepwise
