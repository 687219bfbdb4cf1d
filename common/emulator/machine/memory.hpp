// The emulated GPU's global memory and its allocations.
//
// idea    Two address ranges of the GPU's size are reserved. Programs get addresses in the first,
//         which stays inaccessible, so that a host that dereferences a device pointer faults as it
//         would with a GPU. The bytes live in the second, a constant distance away. Memory that the
//         host shares (managed, pinned) is the same pages mapped into both ranges.
// watch   Pages are committed as allocations reach them, so a limit on the process's data
//         (RLIMIT_DATA) makes an allocation fail instead of raising a signal.
//         Tested by tests/memory_test.cpp.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "common/device/error.hpp"
#include "common/emulator/machine/context.hpp"
#include "common/emulator/machine/registered.hpp"

namespace stepwise::emulator {

// Free ranges of addresses, taken by best fit: the shortest range that has room, or the first of
// several equally short ones. Adjacent freed ranges are merged.
class free_ranges {
 public:
  // Room of `bytes` at a multiple of `alignment` (a power of two), if there is any.
  std::optional<std::uint64_t> take(std::uint64_t bytes, std::uint64_t alignment);
  // Like take(), but at the end of the last range that has room, or at a given offset.
  std::optional<std::uint64_t> take_last(std::uint64_t bytes, std::uint64_t alignment);
  bool take_at(std::uint64_t offset, std::uint64_t bytes);
  void give_back(std::uint64_t offset, std::uint64_t bytes);

 private:
  using by_offset = std::map<std::uint64_t, std::uint64_t>;
  void add(std::uint64_t offset, std::uint64_t bytes);
  by_offset::iterator remove(by_offset::iterator range);
  void take_from(by_offset::iterator range, std::uint64_t offset, std::uint64_t bytes);

  by_offset ranges_;                                           // offset -> bytes, never adjacent
  std::set<std::pair<std::uint64_t, std::uint64_t>> by_size_;  // {bytes, offset} of the same
};

class global_memory {
 public:
  // Throws std::bad_alloc if the address space cannot be reserved.
  explicit global_memory(std::uint64_t bytes);
  ~global_memory();
  global_memory(const global_memory&) = delete;
  global_memory& operator=(const global_memory&) = delete;

  // Aligned to 256 bytes, and at least 256 bytes from the next allocation. Fresh pages read as
  // zero. Reused memory reads as zero or as its old content.
  result<std::uint64_t> allocate(std::uint64_t bytes);
  // Leaves a gap after each later allocation, about as long as the allocation, so that an access
  // far outside of it does not hit another one.
  void set_room_between() { room_between_ = true; }
  // Places and maps memory as a GPU's driver does. Call it before the first allocation. Allocations
  // of up to 1 MiB share pages of 2 MiB, at multiples of 512 bytes and without gaps. A larger
  // allocation has its own pages. Kernels may touch every byte of a page that holds part of an
  // allocation.
  void place_as_gpu() { as_gpu_ = true; }
  // For a variable of a module. Differs from allocate() only with place_as_gpu(): variables share
  // pages with each other, but not with the program's allocations.
  result<std::uint64_t> allocate_variable(std::uint64_t bytes);
  // Like allocate(), for memory whose addresses the host may use, too. It takes host memory, not
  // the GPU's memory.
  result<std::uint64_t> allocate_shared(std::uint64_t bytes);
  // False if `address` is not the start of an allocation.
  bool free(std::uint64_t address);

  // The range that a kernel may touch around `address`: the allocation that holds it (or its page:
  // see place_as_gpu()), or a piece of the host's registered memory.
  std::optional<access_window> find(std::uint64_t address) const;
  // The allocation that holds `address`.
  std::optional<access_window> allocation_at(std::uint64_t address) const;
  // The nearest allocation that ends at or before `address`, to report the distance from it.
  std::optional<access_window> before(std::uint64_t address) const;
  bool contains(std::uint64_t address, std::uint64_t bytes) const;
  // True for an address in an allocation of allocate_shared().
  bool is_shared(std::uint64_t address) const;

  // --- memory that is mapped separately from its addresses: see ../mapped_memory.hpp

  // Reserves unused addresses, at `wanted` if these are free. Fails with memory_allocation.
  result<std::uint64_t> reserve(std::uint64_t bytes, std::uint64_t alignment, std::uint64_t wanted);
  void unreserve(std::uint64_t address, std::uint64_t bytes);
  // Counts memory as used. False if there is not enough.
  bool take_bytes(std::uint64_t bytes);
  void give_bytes(std::uint64_t bytes) { used_ -= bytes; }
  // Maps a part of a file at reserved addresses, until unmap(). False if the host refuses.
  bool map(std::uint64_t address, std::uint64_t bytes, int file, std::uint64_t offset);
  void unmap(std::uint64_t address, std::uint64_t bytes);
  // expose() makes a mapping an allocation, which free() does not accept. hide() undoes this.
  void expose(std::uint64_t address, std::uint64_t bytes) {
    allocations_[address] = {bytes, bytes, placement::mapped};
  }
  void hide(std::uint64_t address) { allocations_.erase(address); }

  // Host memory that kernels use by its host address. Call write_back() after each launch.
  registered_memory& registered() { return registered_; }

  std::byte* host(std::uint64_t address) const {
    return reinterpret_cast<std::byte*>(address + static_cast<std::uint64_t>(host_of_device_));
  }
  // Whether an allocation could ever have this address.
  bool is_device(std::uint64_t address) const { return address - device_base_ < reserved_; }
  // Whether a 32-bit index of 16-byte elements could lead from an allocation to this address.
  bool is_near_device(std::uint64_t address) const {
    constexpr std::uint64_t reach = std::uint64_t{1} << 35;
    return address - device_base_ + reach < reserved_ + 2 * reach;
  }
  std::int64_t host_of_device() const { return host_of_device_; }
  // The addresses that allocations may have: reserved_bytes() from device_base() on.
  std::uint64_t device_base() const { return device_base_; }
  std::uint64_t reserved_bytes() const { return reserved_; }
  std::uint64_t free_bytes() const { return total_ - used_; }
  std::uint64_t total_bytes() const { return total_; }

 private:
  enum class placement : std::uint8_t {
    plain,     // the host cannot reach it
    shared,    // a mapping of its own, which free() closes
    arena,     // a part of a shared mapping that stays
    variable,  // in a page of variables, which stays
    mapped,    // by map()
  };
  struct allocation {
    std::uint64_t bytes = 0;        // as requested
    std::uint64_t block_bytes = 0;  // taken from a free range
    placement where = placement::plain;
  };

  bool room_between_ = false, as_gpu_ = false;
  // The page of place_as_gpu() around an address, if anything lies in it.
  std::optional<access_window> mapped_page(std::uint64_t address) const;
  bool commit(std::uint64_t end);
  // The offset of committed room, or memory_allocation.
  result<std::uint64_t> take(std::uint64_t bytes, std::uint64_t alignment);
  result<std::uint64_t> take_shared(std::uint64_t bytes);
  bool share(std::uint64_t offset, std::uint64_t bytes);
  bool unshare(std::uint64_t offset, std::uint64_t bytes);
  // The allocation at or before an address, or null.
  const std::pair<const std::uint64_t, allocation>* nearest(std::uint64_t address) const;

  std::uint64_t total_ = 0, used_ = 0, reserved_ = 0;
  std::uint64_t device_base_ = 0;
  std::byte* host_base_ = nullptr;
  std::int64_t host_of_device_ = 0;
  std::uint64_t committed_ = 0;                      // bytes from the base
  std::map<std::uint64_t, allocation> allocations_;  // by address
  mutable registered_memory registered_;             // find() copies into the mirror
  struct range {
    std::uint64_t offset, bytes;
  };
  // Freed memory is allocated again as late as possible, so that its use is caught.
  void end_rest();
  std::deque<range> resting_;
  std::uint64_t resting_bytes_ = 0;
  free_ranges holes_;           // neither allocated nor shared
  free_ranges arena_holes_;     // shared, and free for small allocations
  free_ranges variable_holes_;  // in pages of variables
};

// A file of `bytes` bytes in memory, which read as zero until they are written. Below 0 if the host
// cannot create it. Emptied bytes read as zero again.
int open_memory_file(std::uint64_t bytes);
void empty_memory_file(int file, std::uint64_t offset, std::uint64_t bytes);
void close_memory_file(int file);

}  // namespace stepwise::emulator
