// A control group of Linux around a child: memory and processes of all that it starts, together.
//
// idea    A folder below our own group's in each hierarchy that holds the two controllers: one in
//         version 2, two in version 1. Whether we may make it is found out by trying.
// watch   Version 2 lets a group with processes have no controlled groups below it, except the
//         root: where a service manager did not delegate one to us, there is none.
// Tested by sandbox/tests/sandbox_test.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace stepwise {

struct group_limits {
  std::uint64_t memory_bytes = 0;  // of all processes, with shared memory and files in memory
  int processes = 0;               // and threads; 0: as many as there may be
};

class control_group {
 public:
  // Null where none can be made; `why_not` says why in a few words.
  static std::shared_ptr<control_group> make(const group_limits& limits, std::string& why_not);
  ~control_group();
  control_group(const control_group&) = delete;
  control_group& operator=(const control_group&) = delete;

  // The calling process becomes a member. Only async-signal-safe calls.
  void join() const;

  // Kills all members, keeps what is to be known of them, and removes the group.
  void end();

  // After end().
  std::uint64_t peak_bytes() const { return peak_bytes_; }
  bool ran_out_of_memory() const { return out_of_memory_; }

 private:
  control_group() = default;
  std::vector<std::string> folders_;
  std::vector<std::string> members_;  // the files that a process's id is written into
  bool ended_ = false, out_of_memory_ = false;
  std::uint64_t peak_bytes_ = 0;
};

}  // namespace stepwise
