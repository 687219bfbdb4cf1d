// Reserves the address ranges, takes and returns parts of them, and maps memory that the host
// shares.
#include "common/emulator/machine/memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <string>

namespace stepwise::emulator {
namespace {

constexpr std::uint64_t least_room = 64 << 10, most_room = 16 << 20;  // between allocations
constexpr std::uint64_t grain = 256;
// The granularity of cudaMalloc on an H200, its pages, and the largest block that shares a page.
constexpr std::uint64_t gpu_grain = 512, gpu_page = std::uint64_t{2} << 20, most_in_page = 1 << 20;
constexpr std::size_t most_resting = 64;
// The start of a device's addresses, if it is free. Counted cache hits depend on addresses and must
// be the same in every run.
constexpr std::uint64_t usual_base = 0x7000'0000'0000;
constexpr std::uint64_t far = std::uint64_t{1} << 44;
constexpr std::uint64_t arena_bytes = std::uint64_t{4} << 20;
constexpr std::uint64_t commit_step = std::uint64_t{1} << 21;

std::uint64_t round_up(std::uint64_t value, std::uint64_t to) { return (value + to - 1) / to * to; }

// Null if there is no room.
std::byte* reserve_pages(std::uint64_t bytes, std::uint64_t at = 0) {
  void* p = mmap(reinterpret_cast<void*>(at), bytes, PROT_NONE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return p == MAP_FAILED ? nullptr : static_cast<std::byte*>(p);
}

}  // namespace

std::optional<std::uint64_t> free_ranges::take(std::uint64_t bytes, std::uint64_t alignment) {
  for (auto range = by_size_.lower_bound({bytes, 0}); range != by_size_.end(); ++range) {
    const std::uint64_t first = range->second, end = first + range->first;
    const std::uint64_t offset = round_up(first, alignment);
    if (offset > end || end - offset < bytes) continue;
    take_from(ranges_.find(first), offset, bytes);
    return offset;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> free_ranges::take_last(std::uint64_t bytes, std::uint64_t alignment) {
  for (auto range = ranges_.end(); range != ranges_.begin();) {
    --range;
    if (range->second < bytes) continue;
    const std::uint64_t last = range->first + range->second - bytes;
    const std::uint64_t offset = last / alignment * alignment;
    if (offset < range->first) continue;
    take_from(range, offset, bytes);
    return offset;
  }
  return std::nullopt;
}

bool free_ranges::take_at(std::uint64_t offset, std::uint64_t bytes) {
  const auto after = ranges_.upper_bound(offset);
  if (after == ranges_.begin()) return false;
  const auto range = std::prev(after);
  const std::uint64_t before = offset - range->first;
  if (before > range->second || range->second - before < bytes) return false;
  take_from(range, offset, bytes);
  return true;
}

void free_ranges::take_from(by_offset::iterator range, std::uint64_t offset, std::uint64_t bytes) {
  const auto [first, length] = *range;
  remove(range);
  if (offset != first) add(first, offset - first);
  if (offset + bytes != first + length) add(offset + bytes, first + length - offset - bytes);
}

void free_ranges::give_back(std::uint64_t offset, std::uint64_t bytes) {
  auto next = ranges_.lower_bound(offset);
  if (next != ranges_.end() && next->first == offset + bytes) {
    bytes += next->second;
    next = remove(next);
  }
  if (next != ranges_.begin()) {
    const auto previous = std::prev(next);
    if (previous->first + previous->second == offset) {
      offset = previous->first;
      bytes += previous->second;
      remove(previous);
    }
  }
  add(offset, bytes);
}

void free_ranges::add(std::uint64_t offset, std::uint64_t bytes) {
  ranges_[offset] = bytes;
  by_size_.insert({bytes, offset});
}

free_ranges::by_offset::iterator free_ranges::remove(by_offset::iterator range) {
  by_size_.erase({range->second, range->first});
  return ranges_.erase(range);
}

global_memory::global_memory(std::uint64_t bytes)
    : total_(bytes), reserved_(round_up(bytes + bytes / 4, commit_step)) {
  // A limit on address space (ulimit -v) leaves less than the GPU has; allocations then fail
  // earlier.
  constexpr std::uint64_t least = std::uint64_t{1} << 28;
#if defined(__wasm__)
  // With one linear memory, device addresses are only numbers, and less memory is reserved.
  reserved_ = least / 16;
  host_base_ = reserve_pages(reserved_);
  if (host_base_ == nullptr) throw std::bad_alloc();
  device_base_ = usual_base;
#else
  std::byte* device_base = nullptr;
  for (;; reserved_ = round_up(reserved_ / 2, commit_step)) {
    device_base = reserve_pages(reserved_, usual_base);
    // Far away, so that nothing lies at the same distance from the host's own memory.
    const std::uint64_t device = reinterpret_cast<std::uint64_t>(device_base);
    if (device_base != nullptr)
      host_base_ = reserve_pages(reserved_, device > far ? device - far : 0);
    if (host_base_ != nullptr) break;
    if (device_base != nullptr) munmap(device_base, reserved_);
    if (reserved_ <= least) throw std::bad_alloc();
  }
  device_base_ = reinterpret_cast<std::uint64_t>(device_base);
#endif
  host_of_device_ =
      static_cast<std::int64_t>(reinterpret_cast<std::uint64_t>(host_base_) - device_base_);
  holes_.give_back(0, reserved_);
  registered_.set_distance(host_of_device_);
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
  // Large copies and fills touch all of it: fewer, larger pages take a fraction of the time.
  madvise(host_base_ + committed_, want - committed_, MADV_HUGEPAGE);
  committed_ = want;
  return true;
}

result<std::uint64_t> global_memory::take(std::uint64_t bytes, std::uint64_t alignment) {
  auto offset = holes_.take(bytes, alignment);
  while (!offset && !resting_.empty()) {
    end_rest();
    offset = holes_.take(bytes, alignment);
  }
  if (!offset) return {error::memory_allocation, "the free memory is fragmented"};
  if (commit(*offset + bytes)) return *offset;
  holes_.give_back(*offset, bytes);
  return {error::memory_allocation, "the host has no memory for it"};
}

// Room in both ranges, of whole pages.
result<std::uint64_t> global_memory::take_shared(std::uint64_t bytes) {
  auto offset = take(bytes, as_gpu_ ? gpu_page : page);
  if (!offset.ok() || share(*offset, bytes)) return offset;
  if (unshare(*offset, bytes)) holes_.give_back(*offset, bytes);
  return {error::memory_allocation, "the host has no memory for it"};
}

result<std::uint64_t> global_memory::allocate(std::uint64_t bytes) {
  if (bytes == 0) return {error::invalid_value, "an allocation of 0 bytes"};
  const std::string wanted = "no room for " + std::to_string(bytes) + " bytes: ";
  if (bytes > total_ - used_) {
    return {error::memory_allocation, wanted + std::to_string(total_ - used_) + " of the GPU's " +
                                          std::to_string(total_) + " bytes are free"};
  }
  const std::uint64_t step = !as_gpu_ ? grain : bytes <= most_in_page ? gpu_grain : gpu_page;
  const std::uint64_t gap = as_gpu_ ? 0 : grain;  // never allocated
  std::uint64_t block = round_up(bytes, step) + gap;
  const std::uint64_t room = room_between_ ? std::clamp(block, least_room, most_room) : 0;
  auto offset = take(block + room, step);
  if (offset.ok())
    block += room;
  else if (room != 0)
    offset = take(block, step);
  if (!offset.ok()) return {offset.failure().code, wanted + offset.failure().message};
  allocations_[device_base_ + *offset] = {bytes, block, placement::plain};
  used_ += bytes;
  return device_base_ + *offset;
}

result<std::uint64_t> global_memory::allocate_variable(std::uint64_t bytes) {
  if (!as_gpu_) return allocate(bytes);
  const std::uint64_t block = round_up(bytes, gpu_grain);
  auto offset = variable_holes_.take(block, gpu_grain);
  if (!offset) {
    const std::uint64_t pages = round_up(block, gpu_page);
    const auto fresh = bytes <= total_ - used_
                           ? take(pages, gpu_page)
                           : result<std::uint64_t>(error::memory_allocation, "the GPU is full");
    if (!fresh.ok()) return fresh;
    variable_holes_.give_back(*fresh, pages);
    offset = variable_holes_.take(block, gpu_grain);
  }
  allocations_[device_base_ + *offset] = {bytes, block, placement::variable};
  used_ += bytes;
  return device_base_ + *offset;
}

result<std::uint64_t> global_memory::allocate_shared(std::uint64_t bytes) {
  if (bytes == 0) return {error::invalid_value, "an allocation of 0 bytes"};
  const std::string wanted = "no room for " + std::to_string(bytes) + " shared bytes: ";
  if (bytes > reserved_)
    return {error::memory_allocation, wanted + "more than the reserved addresses"};
  // Each mapping counts against a limit of the host (vm.max_map_count), so small allocations share
  // one.
  const bool small = bytes < arena_bytes / 4;
  // With room between allocations, no two share a guarded page (runtime/host/guarded_pages.hpp).
  const std::uint64_t step = room_between_ ? page : grain;
  const std::uint64_t block = small ? round_up(round_up(bytes, grain) + grain, step)
                                    : round_up(bytes + grain, as_gpu_ ? gpu_page : page);
  std::optional<std::uint64_t> offset = small ? arena_holes_.take(block, step) : std::nullopt;
  if (!offset) {
    const auto fresh = take_shared(small ? arena_bytes : block);
    if (!fresh.ok()) return {fresh.failure().code, wanted + fresh.failure().message};
    offset = *fresh;
    if (small) {
      arena_holes_.give_back(*fresh, arena_bytes);
      offset = arena_holes_.take(block, step);
    }
  }
  allocations_[device_base_ + *offset] = {bytes, block,
                                          small ? placement::arena : placement::shared};
  return device_base_ + *offset;
}

bool global_memory::free(std::uint64_t address) {
  const auto found = allocations_.find(address);
  if (found == allocations_.end()) return false;
  const allocation freed = found->second;
  if (freed.where == placement::mapped) return false;
  const std::uint64_t offset = address - device_base_, end = offset + freed.block_bytes;
  allocations_.erase(found);
  if (freed.where == placement::arena) {
    arena_holes_.give_back(offset, freed.block_bytes);
    return true;
  }
  if (freed.where == placement::shared) {
    // If the host refuses, the addresses stay unused, and kernels that use them are still caught.
    if (unshare(offset, freed.block_bytes)) holes_.give_back(offset, freed.block_bytes);
    return true;
  }
  used_ -= freed.bytes;
  if (freed.where == placement::variable) {
    variable_holes_.give_back(offset, freed.block_bytes);
    return true;
  }
  // Whole pages go back to the host at once; they read as zero when they are reused.
  const std::uint64_t first = round_up(offset, page), last = end / page * page;
  if (last > first) madvise(host_base_ + first, last - first, MADV_DONTNEED);
  resting_.push_back({offset, freed.block_bytes});
  resting_bytes_ += freed.block_bytes;
  while (resting_.size() > most_resting || resting_bytes_ > total_ / 32) end_rest();
  return true;
}

void global_memory::end_rest() {
  const auto [offset, bytes] = resting_.front();
  resting_.pop_front();
  resting_bytes_ -= bytes;
  holes_.give_back(offset, bytes);
}

// Puts the same fresh pages into both ranges.
bool global_memory::share(std::uint64_t offset, std::uint64_t bytes) {
  void* const backing = mmap(host_base_ + offset, bytes, PROT_READ | PROT_WRITE,
                             MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
  if (backing == MAP_FAILED) return false;
  // With an old size of 0, the pages of a shared mapping get a second place.
  return mremap(backing, 0, bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
                reinterpret_cast<void*>(device_base_ + offset)) != MAP_FAILED;
}

// Makes both ranges private again.
bool global_memory::unshare(std::uint64_t offset, std::uint64_t bytes) {
  constexpr int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE;
  void* const device_side = reinterpret_cast<void*>(device_base_ + offset);
  const bool closed = mmap(device_side, bytes, PROT_NONE, flags, -1, 0) != MAP_FAILED;
  return mmap(host_base_ + offset, bytes, PROT_READ | PROT_WRITE, flags, -1, 0) != MAP_FAILED &&
         closed;
}

const std::pair<const std::uint64_t, global_memory::allocation>* global_memory::nearest(
    std::uint64_t address) const {
  const auto next = allocations_.upper_bound(address);
  return next == allocations_.begin() ? nullptr : &*std::prev(next);
}

std::optional<access_window> global_memory::before(std::uint64_t address) const {
  const auto* const found = nearest(address);
  if (found == nullptr) return std::nullopt;
  return access_window{found->first, found->second.bytes};
}

std::optional<access_window> global_memory::find(std::uint64_t address) const {
  const auto at = as_gpu_ ? mapped_page(address) : allocation_at(address);
  return at ? at : registered_.find(address);
}

std::optional<access_window> global_memory::mapped_page(std::uint64_t address) const {
  if (!is_device(address)) return std::nullopt;
  const std::uint64_t first = address - (address - device_base_) % gpu_page;
  const auto last = before(first + gpu_page - 1);
  if (!last || last->base + last->bytes <= first) return std::nullopt;
  return access_window{first, gpu_page};
}

std::optional<access_window> global_memory::allocation_at(std::uint64_t address) const {
  const auto at = before(address);
  if (!at || address - at->base >= at->bytes) return std::nullopt;
  return at;
}

bool global_memory::contains(std::uint64_t address, std::uint64_t bytes) const {
  for (;;) {
    const auto at = allocation_at(address);
    if (!at) return false;
    const std::uint64_t here = at->bytes - (address - at->base);
    if (bytes <= here) return true;
    // Mappings may be adjacent.
    if (allocations_.at(at->base).where != placement::mapped) return false;
    address += here;
    bytes -= here;
  }
}

bool global_memory::is_shared(std::uint64_t address) const {
  if (!allocation_at(address)) return false;
  const placement where = nearest(address)->second.where;
  return where == placement::shared || where == placement::arena;
}

// --- memory that is mapped separately from its addresses -----------------------------------------

// Takes addresses from the end, so that memory committed for other allocations does not reach them.
result<std::uint64_t> global_memory::reserve(std::uint64_t bytes, std::uint64_t alignment,
                                             std::uint64_t wanted) {
  if (wanted % alignment == 0 && is_device(wanted) && holes_.take_at(wanted - device_base_, bytes))
    return wanted;
  // Addresses, not offsets, must be multiples of the alignment.
  const std::uint64_t skew = device_base_ % alignment;
  const std::uint64_t lead = skew == 0 ? 0 : alignment - skew;
  const auto offset = holes_.take_last(bytes + lead, alignment);
  if (!offset) return {error::memory_allocation, "no free addresses for so many bytes"};
  if (lead != 0) holes_.give_back(*offset, lead);
  return device_base_ + *offset + lead;
}

void global_memory::unreserve(std::uint64_t address, std::uint64_t bytes) {
  holes_.give_back(address - device_base_, bytes);
}

bool global_memory::take_bytes(std::uint64_t bytes) {
  if (bytes > total_ - used_) return false;
  used_ += bytes;
  return true;
}

bool global_memory::map(std::uint64_t address, std::uint64_t bytes, int file,
                        std::uint64_t offset) {
  return mmap(host(address), bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE,
              file, static_cast<off_t>(offset)) != MAP_FAILED;
}

// The addresses may belong to another allocation next, so committed memory is made accessible.
void global_memory::unmap(std::uint64_t address, std::uint64_t bytes) {
  (void)mmap(host(address), bytes, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
  const std::uint64_t offset = address - device_base_;
  if (offset < committed_)
    (void)mprotect(host(address), std::min(bytes, committed_ - offset), PROT_READ | PROT_WRITE);
}

int open_memory_file(std::uint64_t bytes) {
#if defined(__wasm__)
  return (void)bytes, -1;
#else
  const int file = memfd_create("stepwise device memory", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, static_cast<off_t>(bytes)) == 0) return file;
  close(file);
  return -1;
#endif
}

void empty_memory_file(int file, std::uint64_t offset, std::uint64_t bytes) {
#if defined(__wasm__)
  (void)file, (void)offset, (void)bytes;
#else
  (void)fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(offset),
                  static_cast<off_t>(bytes));
#endif
}

void close_memory_file(int file) { close(file); }

}  // namespace stepwise::emulator
