// Reading what nobody wrote, and the memory's own events.
#include <algorithm>

#include "common/emulator/check/checker.hpp"

namespace stepwise::emulator {

void checker::read_unwritten(const touch& t) {
  const std::uint64_t written = t.memory->written.which(t.at, static_cast<unsigned>(t.bytes));
  const auto present = static_cast<std::uint64_t>(__builtin_popcountll(written));
  if (present == t.bytes || is_library_line(t.number)) return;
  if (t.memory->is_shared && t.at < code_->system_shared_bytes) return;
  const finding_key k =
      key(finding_kind::unwritten_read, line_number(t.number), -1, object_address(*t.memory, t.at));
  const block_clock& b = state().clock;
  const unwritten_reads::read r{
      t.at, t.bytes, owner_of(*t.memory, b), t.warp, b.index, t.lane, t.number, t.op_at, written};
  unwritten_.add(k, r);
  if (log_.is_new(k)) log_.add(k, unwritten_finding(r));
}

finding checker::unwritten_finding(const unwritten_reads::read& r) {
  const bool is_shared = r.owner != 0;
  const std::uint64_t element = site_at(r.site).element_bytes;
  const place_in_memory where =
      is_shared ? describe_shared(r.at, element) : describe_global(device_base_ + r.at, element);
  finding f;
  f.kind = finding_kind::unwritten_read;
  f.message = "a thread reads " + where.words + ", which nobody has written";
  if (r.written != 0)
    f.message = "a thread reads " + where.words + ", of which only " +
                std::to_string(__builtin_popcountll(r.written)) + " of " + std::to_string(r.bytes) +
                " bytes have been written";
  f.parties.push_back(
      party(r.op_at, r.warp, r.lane,
            "reads " + std::to_string(r.bytes) + (r.bytes == 1 ? " byte" : " bytes")));
  f.parties[0].block = place(r.block, config_->grid);
  f.object = where.object;
  f.advice = is_shared
                 ? "Shared memory starts with any content: write every element before it is read."
                 : "Memory starts with any content: copy to it or set it (cudaMemset) before a "
                   "kernel reads it or adds to it.";
  f.origin = launch_origin_;
  return f;
}

// If a read's line also races at the same place, the race explains that nothing was written there,
// and the race is reported instead. If other reads of the same line remain, one is described.
void checker::settle_unwritten() {
  for (const auto& [key, reads] : unwritten_.all()) {
    if (reads.explained == 0 || !log_.take_back(key, reads.explained)) continue;
    const auto open = std::ranges::find_if(reads.open_words, [](auto words) { return words != 0; });
    if (open == reads.open_words.end()) {
      log_.take_back(key, reads.not_kept);
    } else {
      const auto number = static_cast<std::size_t>(open - reads.open_words.begin());
      log_.add(key, unwritten_finding(reads.all[number]));
    }
  }
  unwritten_.clear();
}

// --- the device's memory -----------------------------------------------------------------------

void checker::allocated(device_address at, std::uint64_t bytes) {
  // What was here before can no longer be described.
  gone_.erase(gone_.lower_bound(at), gone_.lower_bound(at + bytes));
  if (gone_.size() > 4096) gone_.erase(gone_.begin());
  live_[at] = {bytes, "", false, false, origin_, 0, nullptr, false, order_.now()};
  global_->written.clear(at - device_base_, bytes);
}

void checker::mapped(device_address at, std::uint64_t bytes) {
  allocated(at, bytes);
  live_[at].mapped = true;
}

void checker::placed(const std::string& name, device_address at, std::uint64_t bytes,
                     bool constant) {
  live_[at] = {bytes, name, true, constant, 0, 0, nullptr};
  shares_memory_ = shares_memory_ || memory_.is_shared(at);
  global_->written.mark(at - device_base_, bytes);
}

void checker::name(device_address at, std::string_view name) {
  if (const auto found = live_.find(at); found != live_.end()) found->second.name = name;
}

void checker::freed(device_address at) {
  const auto found = live_.find(at);
  if (found == live_.end()) return;
  found->second.freed_by = origin_;
  gone_[at] = found->second;
  live_.erase(found);
}

void checker::refused_free(device_address at) {
  finding f;
  f.kind = finding_kind::double_free;
  const auto* const before = allocation_at(gone_, at);
  if (before != nullptr && before->first == at) {
    f.message = "memory is freed twice";
    f.object = describe_global(at, 1).object;
  } else if (allocation_at(live_, at) != nullptr) {
    f.message = "the freed address is not the start of an allocation";
    f.object = describe_global(at, 1).object;
  } else {
    f.message = "the freed address belongs to no allocation";
  }
  f.advice = "Free each allocation once, with the pointer that cudaMalloc returned.";
  f.origin = origin_;
  const finding_key k{f.kind, origin_, -1, -1, at};
  if (log_.is_new(k)) log_.add(k, std::move(f));
}

void checker::heap_gave(const warp_event& e, int lane, device_address at, std::uint64_t bytes) {
  allocated(at, bytes);
  live_[at].allocated_by = 0;
  live_[at].by_kernel = std::make_shared<finding_party>(
      party(e.at, e.warp, lane, "allocates " + std::to_string(bytes) + " bytes"));
}

void checker::heap_got(const warp_event& e, int lane, device_address at, bool is_known) {
  if (is_known) return freed(at);
  finding f;
  f.kind = finding_kind::double_free;
  const auto* const before = allocation_at(gone_, at);
  f.message = before != nullptr && before->first == at
                  ? "a thread frees memory twice"
                  : "a thread frees an address that malloc in a kernel did not return";
  f.object = describe_global(at, 1).object;
  f.parties.push_back(party(e.at, e.warp, lane, "frees"));
  f.advice = "Free each block once, in a kernel, with the pointer that malloc returned there.";
  f.origin = launch_origin_;
  told_ = instruction_of(e.at);
  const finding_key k = key(f.kind, place_number(e.at), -1, 0);
  if (log_.is_new(k)) log_.add(k, std::move(f));
}

void checker::leak_of_kernel(device_address at, const allocation& a) {
  const finding_key k{finding_kind::leak, 0, a.by_kernel->at.line, -1, 0};
  if (!log_.is_new(k)) return;
  finding f;
  f.kind = finding_kind::leak;
  f.message = std::to_string(a.bytes) + " bytes that a kernel allocated were not freed";
  f.object = describe_global(at, 1).object;
  f.parties.push_back(*a.by_kernel);
  f.advice = "Call free in a kernel when the memory is no longer needed.";
  log_.add(k, std::move(f));
}

void checker::wrote(device_address at, std::uint64_t bytes) {
  if (bytes == 0 || !memory_.is_device(at)) return;
  copy_touches(at, bytes, true);
  global_->written.mark(at - device_base_, bytes);
}

void checker::filled(device_address at, std::uint64_t bytes) {
  wrote(at, bytes);
  if (!copy_uses_.empty() && copy_uses_.back().work == order_.current_work())
    copy_uses_.back().is_fill = true;
}

void checker::forgot(device_address at, std::uint64_t bytes) {
  if (bytes != 0 && memory_.is_device(at)) global_->written.clear(at - device_base_, bytes);
}

void checker::copied(device_address to, device_address from, std::uint64_t bytes) {
  if (bytes == 0 || !memory_.is_device(to)) return;
  if (!memory_.is_device(from)) return wrote(to, bytes);
  copy_touches(from, bytes, false);
  copy_touches(to, bytes, true);
  global_->written.copy(to - device_base_, from - device_base_, bytes);
}

// Whether the gaps among 64 bytes may lie between the members of structures: none of them begins at
// a multiple of four or holds a whole word that does.
bool checker::looks_like_padding(std::uint64_t at, std::uint64_t gaps) const {
  for (unsigned k = 0; k < 64; ++k) {
    const bool begins = ((gaps >> k) & 1) != 0 && (k == 0 || ((gaps >> (k - 1)) & 1) == 0);
    if (begins && (at + k) % 4 == 0 && (k != 0 || at == 0 || global_->written.all(at - 1, 1)))
      return false;
  }
  return static_cast<unsigned>(__builtin_popcountll(gaps)) <= 56;
}

void checker::copied_home(device_address from, std::uint64_t bytes) {
  if (bytes == 0 || !memory_.is_device(from)) return;
  copy_touches(from, bytes, false);
  note_copy_to_host(bytes);
  const std::uint64_t at = from - device_base_;
  if (global_->written.all(at, bytes)) return;
  std::uint64_t missing = 0, first = bytes;
  bool real = false;  // more than the gaps in structures
  for (std::uint64_t k = 0; k < bytes; k += 64) {
    const auto n = static_cast<unsigned>(std::min<std::uint64_t>(64, bytes - k));
    const std::uint64_t full = n == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1;
    const std::uint64_t gaps = full & ~global_->written.which(at + k, n);
    if (gaps == 0) continue;
    if (!looks_like_padding(at + k, gaps)) real = true;
    missing += static_cast<std::uint64_t>(__builtin_popcountll(gaps));
    if (first == bytes) first = k + static_cast<std::uint64_t>(__builtin_ctzll(gaps));
  }
  if (!real) return;
  const place_in_memory where = describe_global(from + first, 1);
  const finding_key k{finding_kind::unwritten_copy, origin_, -1, -1, where.object.address};
  if (!log_.is_new(k)) return;
  finding f;
  f.kind = finding_kind::unwritten_copy;
  f.message = "a copy to the host takes " + std::to_string(bytes) + " bytes, " +
              std::to_string(missing) + " of which nobody has written; the first is byte " +
              std::to_string(where.object.offset) + " of " +
              (where.object.name.empty() ? "the allocation" : where.object.name);
  f.object = where.object;
  f.advice =
      "Has every element a thread that writes it, also where n is not a multiple of the block?";
  f.origin = origin_;
  log_.add(k, std::move(f));
}

std::vector<finding> checker::take(bool at_exit) {
  settle_unwritten();  // for a launch that is still running
  if (at_exit) {
    for (const auto& [at, a] : live_) {
      if (a.variable) continue;
      if (a.by_kernel != nullptr) {
        leak_of_kernel(at, a);
        continue;
      }
      const finding_key k{finding_kind::leak, a.allocated_by, -1, -1, 0};
      if (!log_.is_new(k)) continue;
      finding f;
      f.kind = finding_kind::leak;
      f.message = std::to_string(a.bytes) + (a.mapped ? " bytes of mapped memory were not unmapped"
                                                      : " bytes of device memory were not freed");
      f.object = describe_global(at, 1).object;
      f.origin = a.allocated_by;  // the runtime knows which function frees memory from this call
      log_.add(k, std::move(f));
    }
  }
  return log_.take();
}

}  // namespace stepwise::emulator
