// Memory that processes share by turns: a process waits until its share is free.
//
// idea    The memory is cut into units, each of which is a file; to hold units is to hold their
//         flocks. So a process that is killed returns its share, and no counter can be wrong.
//         Whoever waits holds the lock of the queue: who came first is served first, and a large
//         wish is not starved by small ones.
// Tested by tests/admission_test.cpp.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace stepwise {

class memory_share;

// What several processes share.
class shared_memory_budget {
 public:
  // `folder` keeps the locks, and is made; the same folder and bytes for all who share.
  shared_memory_budget(std::filesystem::path folder, std::uint64_t bytes);
  // As STEPWISE_MEMORY says, "600:/folder" with megabytes; nothing if it is not set, or no such
  // text.
  static std::optional<shared_memory_budget> of_environment();
  std::string environment() const;  // "STEPWISE_MEMORY=600:/folder"

  std::uint64_t bytes() const;
  // Waits for `bytes`, or for all there are if that is less; `waiting` is called about ten times a
  // second. Throws interrupted. Nobody may wait for a second share while holding one.
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

 private:
  friend class shared_memory_budget;
  memory_share() = default;
  std::vector<std::shared_ptr<void>> held_;
};

// What this process may take: what is free on the machine, and what the groups that it is in leave.
std::uint64_t usable_memory();

}  // namespace stepwise
