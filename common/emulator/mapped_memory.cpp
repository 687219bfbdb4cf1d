// Reserves addresses, creates pieces, and maps and releases them.
#include "common/emulator/mapped_memory.hpp"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

namespace stepwise::emulator {
namespace {

status invalid(std::string why) { return {error::invalid_value, std::move(why)}; }

status not_whole() { return invalid("the addresses are not those of one or more whole mappings"); }

}  // namespace

mapped_memory::mapped_memory(global_memory& memory,
                             std::function<status(const change&)> change_while_idle)
    : memory_(memory), change_while_idle_(std::move(change_while_idle)) {
  room_.give_back(0, memory.total_bytes() / granularity() * granularity());
}

mapped_memory::~mapped_memory() {
  if (file_ >= 0) close_memory_file(file_);
}

result<std::uint64_t> mapped_memory::reserve(std::uint64_t bytes, std::uint64_t alignment,
                                             std::uint64_t wanted) {
  if (bytes == 0 || !is_multiple(bytes) || (alignment != 0 && !std::has_single_bit(alignment)))
    return invalid("a range of " + std::to_string(bytes) + " bytes at a multiple of " +
                   std::to_string(alignment) + " (2 MiB are the granularity)");
  const auto at = memory_.reserve(bytes, std::max(alignment, granularity()), wanted);
  if (at.ok()) ranges_[*at] = bytes;
  return at;
}

status mapped_memory::unreserve(std::uint64_t address, std::uint64_t bytes) {
  const auto range = ranges_.find(address);
  if (range == ranges_.end() || range->second != bytes)
    return invalid("the addresses are not those of a whole reserved range");
  const auto mapped = mappings_.lower_bound(address);
  if (mapped != mappings_.end() && mapped->first < address + bytes)
    return invalid("memory is mapped in this range of addresses: unmap it first");
  memory_.unreserve(address, bytes);
  ranges_.erase(range);
  return {};
}

result<memory_piece> mapped_memory::create(std::uint64_t bytes) {
  if (bytes == 0 || !is_multiple(bytes))
    return invalid("a piece of " + std::to_string(bytes) + " bytes (2 MiB are the granularity)");
  const std::string wanted = "no room for " + std::to_string(bytes) + " bytes";
  if (!memory_.take_bytes(bytes)) return {error::memory_allocation, wanted};
  if (file_ < 0) file_ = open_memory_file(memory_.total_bytes());
  const auto offset = file_ >= 0 ? room_.take(bytes, granularity()) : std::nullopt;
  if (!offset) {
    memory_.give_bytes(bytes);
    return {error::memory_allocation,
            wanted + (file_ < 0 ? ": the host has no memory for it" : "")};
  }
  const memory_piece made{++last_piece_};
  pieces_[made] = {bytes, *offset};
  return made;
}

void mapped_memory::let_go(std::map<memory_piece, piece_record>::iterator piece) {
  const piece_record& p = piece->second;
  if (p.references != 0 || p.mappings != 0) return;
  empty_memory_file(file_, p.offset, p.bytes);
  room_.give_back(p.offset, p.bytes);
  memory_.give_bytes(p.bytes);
  pieces_.erase(piece);
}

status mapped_memory::release(memory_piece piece) {
  const auto found = pieces_.find(piece);
  if (!has(piece)) return invalid("there is no such piece of memory; was it released?");
  --found->second.references;
  let_go(found);
  return {};
}

bool mapped_memory::has(memory_piece piece) const {
  const auto found = pieces_.find(piece);
  return found != pieces_.end() && found->second.references != 0;
}

mapped_memory::mapping_map::const_iterator mapped_memory::around(std::uint64_t address) const {
  const auto after = mappings_.upper_bound(address);
  if (after == mappings_.begin()) return mappings_.end();
  const auto last = std::prev(after);
  return address - last->first < last->second.bytes ? last : mappings_.end();
}

result<memory_piece> mapped_memory::retain(std::uint64_t address) {
  const auto found = around(address);
  if (found == mappings_.end()) return invalid("no memory is mapped at this address");
  ++pieces_.at(found->second.piece).references;
  return found->second.piece;
}

bool mapped_memory::is_free(std::uint64_t address, std::uint64_t bytes) const {
  const auto next = mappings_.lower_bound(address);
  return around(address) == mappings_.end() &&
         (next == mappings_.end() || next->first - address >= bytes);
}

status mapped_memory::map(std::uint64_t address, std::uint64_t bytes, memory_piece piece) {
  const auto found = pieces_.find(piece);
  if (!has(piece)) return invalid("there is no such piece of memory; was it released?");
  if (bytes > found->second.bytes)
    return {error::not_supported, "the size is more than the piece has"};
  if (bytes == 0 || !is_multiple(address, bytes))
    return invalid("the size or the address is not a multiple of 2 MiB");
  const auto after = ranges_.upper_bound(address);
  if (after == ranges_.begin() || std::prev(after)->second < address - std::prev(after)->first ||
      bytes > std::prev(after)->second - (address - std::prev(after)->first))
    return invalid("the addresses are not in a reserved range");
  if (!is_free(address, bytes)) return invalid("memory is mapped at these addresses already");
  if (!memory_.map(address, bytes, file_, found->second.offset))
    return {error::memory_allocation, "the host cannot map it"};
  mappings_[address] = {bytes, piece, memory_access::none};
  ++found->second.mappings;
  return {};
}

void mapped_memory::all_written(memory_piece piece) {
  for (const auto& [address, m] : mappings_)
    if (m.piece == piece && m.access != memory_access::none) check_->initialised(address, m.bytes);
}

status mapped_memory::for_each(std::uint64_t address, std::uint64_t bytes,
                               const std::function<status(mapping_map::iterator)>& what) {
  if (bytes == 0) return not_whole();
  std::uint64_t end = address;
  for (auto m = mappings_.find(address); m != mappings_.end() && m->first == end; ++m) {
    if (end - address >= bytes) break;
    end += m->second.bytes;
  }
  if (end - address != bytes) return not_whole();
  for (auto m = mappings_.find(address); m != mappings_.end() && m->first < end;) {
    const auto next = std::next(m);
    if (status s = what(m); !s.ok()) return s;
    m = next;
  }
  return {};
}

void mapped_memory::hide(std::uint64_t address, mapping& m) {
  if (m.access == memory_access::none) return;
  memory_.hide(address);
  if (check_ != nullptr) check_->freed(address);
  m.access = memory_access::none;
}

status mapped_memory::unmap(std::uint64_t address, std::uint64_t bytes) {
  return change_while_idle_([&] {
    const bool is_whole = bytes != 0 && is_multiple(address, bytes);
    if (is_whole && is_free(address, bytes)) return status{};  // as an H100's driver does
    return for_each(address, bytes, [&](mapping_map::iterator m) {
      hide(m->first, m->second);
      memory_.unmap(m->first, m->second.bytes);
      const auto piece = pieces_.find(m->second.piece);
      mappings_.erase(m);
      --piece->second.mappings;
      let_go(piece);
      return status{};
    });
  });
}

status mapped_memory::set_access(std::uint64_t address, std::uint64_t bytes, memory_access access) {
  return change_while_idle_([&] {
    return for_each(address, bytes, [&](mapping_map::iterator m) {
      const bool was_hidden = m->second.access == memory_access::none;
      if (access == memory_access::none) hide(m->first, m->second);
      m->second.access = access;
      if (access == memory_access::none || !was_hidden) return status{};
      memory_.expose(m->first, m->second.bytes);
      if (check_ == nullptr) return status{};
      check_->mapped(m->first, m->second.bytes);
      // Data written through another address, or earlier, counts as written here, too.
      piece_record& piece = pieces_.at(m->second.piece);
      if (std::exchange(piece.was_exposed, true)) all_written(m->second.piece);
      return status{};
    });
  });
}

result<memory_access> mapped_memory::access_at(std::uint64_t address) const {
  const auto found = around(address);
  if (found == mappings_.end()) return invalid("no memory is mapped at this address");
  return found->second.access;
}

}  // namespace stepwise::emulator
