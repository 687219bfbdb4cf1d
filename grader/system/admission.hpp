// Memory that processes share: each process waits until its reservation fits.
//
// idea    The memory is divided into units, each represented by a file. Holding a unit means
//         holding the flock on its file, so a killed process releases its reservation, and no
//         counter can become wrong. A waiting process holds the queue's lock, so small requests
//         that arrive later cannot starve a large one.
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

class memory_reservation;

// The memory that several processes share.
class shared_memory_budget {
 public:
  // `folder` keeps the locks, and is created. All processes use the same folder and bytes.
  shared_memory_budget(std::filesystem::path folder, std::uint64_t bytes);
  // The budget in STEPWISE_MEMORY, "600:/folder" with megabytes. nullopt if the variable is unset
  // or malformed.
  static std::optional<shared_memory_budget> of_environment();
  std::string environment() const;  // "STEPWISE_MEMORY=600:/folder"

  std::uint64_t bytes() const;
  // Waits for `bytes`, but at most for all bytes that there are, and calls `waiting` about ten
  // times a second. Throws interrupted. A process that holds a reservation must not wait for
  // another one.
  memory_reservation take(std::uint64_t bytes, const std::function<void()>& waiting) const;

 private:
  std::filesystem::path folder_;
  std::size_t units_ = 1;
};

// Held until destroyed.
class memory_reservation {
 public:
  memory_reservation(memory_reservation&&) = default;
  memory_reservation& operator=(memory_reservation&&) = default;
  std::size_t units() const { return held_.size(); }
  std::uint64_t bytes() const;

 private:
  friend class shared_memory_budget;
  memory_reservation() = default;
  std::vector<std::shared_ptr<void>> held_;
};

// Bytes that this process may still allocate: the free memory of the machine or of its control
// groups, whichever is less.
std::uint64_t usable_memory();

// Memory left below the limits of the control groups and their parents, in version 2 or 1. Returns
// the largest number if there is no limit. `memberships` has the format of /proc/PID/cgroup, and
// `root` is /sys/fs/cgroup.
std::uint64_t memory_left_in_groups(std::string_view memberships,
                                    const std::filesystem::path& root);

}  // namespace stepwise
