// Adds and removes areas, mirrors pieces at their first use, and writes changed bytes back.
#include "common/emulator/machine/registered.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

namespace stepwise::emulator {
namespace {

// Pieces are aligned, so that no lane's access crosses the end of a piece within its area.
constexpr std::uint64_t piece_bytes = 64 << 10;

std::uint64_t page_of(std::uint64_t address) { return address / page * page; }

}  // namespace

registered_memory::~registered_memory() {
  while (!areas_.empty()) remove(areas_.begin()->first);
}

bool registered_memory::add(std::uint64_t address, std::uint64_t bytes) {
  const std::lock_guard guard(lock_);
  if (bytes == 0 || address + bytes < address) return false;
  const auto next = areas_.lower_bound(address);
  std::uint64_t first = page_of(address), end = page_of(address + bytes - 1) + page;
  if (next != areas_.end()) {
    if (next->first < address + bytes) return false;
    end = std::min(end, page_of(next->first));  // its mirror has the shared page
  }
  if (next != areas_.begin()) {
    const auto& [before, other] = *std::prev(next);
    if (address - before < other.bytes) return false;
    first = std::max(first, page_of(before + other.bytes - 1) + page);
  }
  if (first < end) {
    const std::uint64_t length = end - first;
    void* const got =
        mmap(mirror(first), length, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (got == MAP_FAILED) return false;
    if (got != mirror(first)) {  // Linux before 4.17 treats the address as a hint
      munmap(got, length);
      return false;
    }
  }
  areas_[address].bytes = bytes;
  return true;
}

bool registered_memory::remove(std::uint64_t address) {
  const std::lock_guard guard(lock_);
  const auto found = areas_.find(address);
  if (found == areas_.end()) return false;
  std::uint64_t first = page_of(address), end = page_of(address + found->second.bytes - 1) + page;
  const auto next = std::next(found);
  if (next != areas_.end()) end = std::min(end, page_of(next->first));
  if (found != areas_.begin()) {
    const auto& [before, other] = *std::prev(found);
    first = std::max(first, page_of(before + other.bytes - 1) + page);
  }
  if (first < end) munmap(mirror(first), end - first);
  areas_.erase(found);
  return true;
}

std::optional<access_window> registered_memory::find(std::uint64_t address) {
  const std::lock_guard guard(lock_);
  auto after = areas_.upper_bound(address);
  if (after == areas_.begin()) return std::nullopt;
  auto& [base, in] = *std::prev(after);
  if (address - base >= in.bytes) return std::nullopt;
  const std::uint64_t piece = address / piece_bytes * piece_bytes;
  const std::uint64_t first = std::max(piece, base);
  const std::uint64_t bytes = std::min(piece + piece_bytes, base + in.bytes) - first;
  auto& before = in.touched[first];
  if (before.empty()) {
    const auto* const host = reinterpret_cast<const std::byte*>(first);
    before.assign(host, host + bytes);
    std::memcpy(mirror(first), before.data(), bytes);
  }
  return access_window{first, bytes};
}

void registered_memory::write_back() {
  const std::lock_guard guard(lock_);
  for (auto& [base, in] : areas_) {
    for (const auto& [first, before] : in.touched) {
      std::byte* const host = reinterpret_cast<std::byte*>(first);
      const std::byte* const now = mirror(first);
      // Writes only changed bytes, because another thread may write the others.
      for (std::size_t n = 0; n < before.size(); ++n) {
        if (now[n] != before[n]) host[n] = now[n];
      }
    }
    in.touched.clear();
  }
}

}  // namespace stepwise::emulator
