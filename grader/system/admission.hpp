// Memory that processes share by turns: a process waits until its share is free.
//
// idea    The memory is cut into units, each of which is a file; to hold units is to hold their
//         flocks. So a process that is killed returns its share, and no counter can be wrong.
//         A process that waits holds the lock of the queue, so a large request is not starved by
//         small ones that arrive later.
// Tested by tests/admission_test.cpp.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stepwise {

class memory_share;

// What several processes share.
class shared_memory_budget {
 public:
  // `folder` keeps the locks, and is made; the same folder and bytes for all who share.
  shared_memory_budget(std::filesystem::path folder, std::uint64_t bytes);
  // Of STEPWISE_MEMORY, "600:/folder" with megabytes; nothing if it is not set, or is something
  // else.
  static std::optional<shared_memory_budget> of_environment();
  std::string environment() const;  // "STEPWISE_MEMORY=600:/folder"

  std::uint64_t bytes() const;
  // Waits for `bytes`, or for all there are if that is less; `waiting` is called about ten times a
  // second. Throws interrupted. A process that holds a share must not wait for another one.
  memory_share take(std::uint64_t bytes, const std::function<void()>& waiting) const;

 private:
  std::filesystem::path folder_;
  std::size_t units_ = 1;
};

// Held until destroyed.
class memory_share {
 public:
  memory_share(memory_share&&) = default;
  memory_share& operator=(memory_share&&) = default;
  std::size_t units() const { return held_.size(); }
  std::uint64_t bytes() const;

 private:
  friend class shared_memory_budget;
  memory_share() = default;
  std::vector<std::shared_ptr<void>> held_;
};

// Bytes that this process may still take: what is free on the machine, or what its control groups
// leave if that is less.
std::uint64_t usable_memory();

// What the memory limits of control groups and of all above them leave, in version 2 or 1; the
// largest number if there is none. `memberships`: as /proc/PID/cgroup lists them; `root`:
// /sys/fs/cgroup.
std::uint64_t memory_left_in_groups(std::string_view memberships,
                                    const std::filesystem::path& root);

}  // namespace stepwise
