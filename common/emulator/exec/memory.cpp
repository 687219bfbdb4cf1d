#include "common/emulator/exec/memory.hpp"

#include <sys/mman.h>

#include <new>
#include <string>

namespace stepwise::emulator {
namespace {

constexpr std::uint64_t grain = 256;
constexpr std::uint64_t commit_step = std::uint64_t{1} << 21;

std::uint64_t round_up(std::uint64_t value, std::uint64_t to) { return (value + to - 1) / to * to; }

// Null where there is no room.
std::byte* reserve(std::uint64_t bytes) {
  void* p = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? nullptr : static_cast<std::byte*>(p);
}

}  // namespace

global_memory::global_memory(std::uint64_t bytes)
    : total_(bytes), reserved_(round_up(bytes + bytes / 4, commit_step)) {
  // A limit on address space (ulimit -v) leaves less than the GPU has; allocations then fail
  // earlier.
  constexpr std::uint64_t least = std::uint64_t{1} << 28;
  std::byte* device_base = nullptr;
  for (;; reserved_ = round_up(reserved_ / 2, commit_step)) {
    device_base = reserve(reserved_);
    if (device_base != nullptr) host_base_ = reserve(reserved_);
    if (host_base_ != nullptr) break;
    if (device_base != nullptr) munmap(device_base, reserved_);
    if (reserved_ <= least) throw std::bad_alloc();
  }
  device_base_ = reinterpret_cast<std::uint64_t>(device_base);
  host_of_device_ =
      static_cast<std::int64_t>(reinterpret_cast<std::uint64_t>(host_base_) - device_base_);
  holes_[0] = reserved_;
}

global_memory::~global_memory() {
  munmap(reinterpret_cast<void*>(device_base_), reserved_);
  munmap(host_base_, reserved_);
}

bool global_memory::commit(std::uint64_t end) {
  if (end <= committed_) return true;
  const std::uint64_t want = round_up(end, commit_step);
  if (mprotect(host_base_ + committed_, want - committed_, PROT_READ | PROT_WRITE) != 0)
    return false;
  committed_ = want;
  return true;
}

result<std::uint64_t> global_memory::allocate(std::uint64_t bytes) {
  if (bytes == 0) return {error::invalid_value, "an allocation of 0 bytes"};
  const std::string wanted = "no room for " + std::to_string(bytes) + " bytes: ";
  if (bytes > total_ - used_) {
    return {error::memory_allocation, wanted + std::to_string(total_ - used_) + " of the GPU's " +
                                          std::to_string(total_) + " bytes are free"};
  }
  const std::uint64_t block = round_up(bytes, grain) + grain;  // the last grain is never given out
  for (auto hole = holes_.begin(); hole != holes_.end(); ++hole) {
    if (hole->second < block) continue;
    const std::uint64_t offset = hole->first, left = hole->second - block;
    if (!commit(offset + block)) {
      return {error::memory_allocation, wanted + "the host has no memory for it"};
    }
    holes_.erase(hole);
    if (left != 0) holes_[offset + block] = left;
    allocations_[device_base_ + offset] = bytes;
    used_ += bytes;
    return device_base_ + offset;
  }
  return {error::memory_allocation, wanted + "the free memory is fragmented"};
}

bool global_memory::free(std::uint64_t address) {
  const auto found = allocations_.find(address);
  if (found == allocations_.end()) return false;
  std::uint64_t offset = address - device_base_, bytes = round_up(found->second, grain) + grain;
  used_ -= found->second;
  // Whole pages go back to the host at once; they read as zero when they are reused.
  constexpr std::uint64_t page = 4096;
  const std::uint64_t first = round_up(offset, page), end = (offset + bytes) / page * page;
  if (end > first) madvise(host_base_ + first, end - first, MADV_DONTNEED);
  allocations_.erase(found);
  auto next = holes_.lower_bound(offset);
  if (next != holes_.end() && next->first == offset + bytes) {
    bytes += next->second;
    next = holes_.erase(next);
  }
  if (next != holes_.begin()) {
    const auto previous = std::prev(next);
    if (previous->first + previous->second == offset) {
      offset = previous->first;
      bytes += previous->second;
      holes_.erase(previous);
    }
  }
  holes_[offset] = bytes;
  return true;
}

std::optional<access_window> global_memory::before(std::uint64_t address) const {
  auto next = allocations_.upper_bound(address);
  if (next == allocations_.begin()) return std::nullopt;
  --next;
  return access_window{next->first, next->second};
}

std::optional<access_window> global_memory::find(std::uint64_t address) const {
  const auto nearest = before(address);
  if (!nearest || address - nearest->base >= nearest->bytes) return std::nullopt;
  return nearest;
}

bool global_memory::contains(std::uint64_t address, std::uint64_t bytes) const {
  const auto at = find(address);
  return at && bytes <= at->bytes - (address - at->base);
}

}  // namespace stepwise::emulator
