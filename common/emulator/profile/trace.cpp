// Records requests in bounded memory, thins them when it is full, and plays them round-robin.
#include "common/emulator/profile/trace.hpp"

#include <algorithm>
#include <utility>

namespace stepwise::emulator {
namespace {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

constexpr u64 begins = u64{1} << 19, whole_sectors = u64{1} << 18, of_local = u64{1} << 17;
constexpr u64 site_mask = of_local - 1;
// Represents requests that have no line in a simulated set but keep their place in the order.
constexpr u64 skips(u64 requests) { return requests << 24 | begins; }
constexpr bool is_skip(u64 record) { return ((record >> 20) & 0xf) == 0; }
// Requests that each warp of a multiprocessor makes before the next multiprocessor runs.
constexpr int requests_per_round = 16;

}  // namespace

trace::trace(const gpu& model, std::size_t bytes)
    : multiprocessors_(static_cast<unsigned>(model.multiprocessors)),
      caches_(model),
      capacity_(bytes / sizeof(chunk)),
      chunks_(std::make_unique_for_overwrite<chunk[]>(capacity_)),
      on_(multiprocessors_) {}

void trace::begin(const launch_shape& shape, const std::vector<site_plan>& sites) {
  shape_ = shape;
  sites_ = sites.data();
  caches_.clear(shape.l1_bytes, std::max<std::size_t>(sites.size(), 1));
  const u64 wave = u64{shape.resident} * multiprocessors_;
  slots_.assign(static_cast<std::size_t>(std::min(wave, shape.blocks)), {});
  streams_.assign(slots_.size() * shape.warps, {});
  used_chunks_ = 0;
  free_chunk_ = none;
  now_ = begun_ = ended_ = 0;
  dropped_bits_ = 0;
}

void trace::begin_block(u64 index) {
  if (begun_ == slots_.size()) play();
  now_ = 0;
  while (now_ < slots_.size() && slots_[now_].taken) ++now_;
  if (now_ == slots_.size()) {  // more blocks wait for each other than the GPU holds
    slots_.emplace_back();
    streams_.resize(slots_.size() * shape_.warps);
  }
  slots_[now_] = {index, true, false};
  ++begun_;
}

void trace::switch_to(u64 index) {
  if (slots_[now_].taken && slots_[now_].block == index) return;
  for (std::size_t n = 0; n < slots_.size(); ++n)
    if (slots_[n].taken && !slots_[n].ended && slots_[n].block == index) now_ = n;
}

void trace::end_block(u64 index) {
  switch_to(index);
  slots_[now_].ended = true;
}

u64 trace::local_line(u32 warp) const {
  const u64 words = (shape_.local_bytes + 3) / 4;
  return (u64{now_} * shape_.warps + warp) * words;
}

void trace::add(u32 warp, u32 site, const touched_lines& t, bool whole, bool local) {
  stream& s = stream_of(now_, warp);
  u64 first = begins;
  const u64 rest =
      (whole ? whole_sectors : 0) | (local ? of_local : 0) | std::min<u64>(site, site_mask);
  for (unsigned n = 0; n < t.count; ++n) {
    if (dropped_bits_ != 0 && !is_sampled(t.lines[n].line)) continue;
    if (s.skipped != 0) append(s, skips(std::exchange(s.skipped, 0)));
    append(s, t.lines[n].line << 24 | u64{t.lines[n].sectors} << 20 | first | rest);
    first = 0;
  }
  s.skipped += first != 0;
}

void trace::add_chunk(stream& s) {
  const u32 fresh = take_chunk();
  chunks_[fresh].used = 0;
  chunks_[fresh].next = none;
  // Making room may have emptied the stream, or left it a chunk that is not full.
  if (s.last == none)
    s.first = fresh;
  else
    chunks_[s.last].next = fresh;
  s.last = fresh;
}

u32 trace::take_chunk() {
  while (free_chunk_ == none && used_chunks_ == capacity_) make_room();
  if (free_chunk_ == none) return used_chunks_++;
  const u32 c = free_chunk_;
  free_chunk_ = chunks_[c].next;
  return c;
}

void trace::make_room() {
  if (dropped_bits_ == caches::sampled_bits) return play();
  ++dropped_bits_;
  for (stream& s : streams_) thin(s);
}

// Keeps the records of the sets that are still sampled. The number of records does not grow,
// because each skip record replaces a dropped record.
void trace::thin(stream& s) {
  u32 to = s.first, at = 0;
  const auto keep = [&](u64 record) {
    if (at == chunk_records) {
      chunks_[to].used = at;
      to = chunks_[to].next;
      at = 0;
    }
    chunks_[to].records[at++] = record;
  };
  u64 skipped = 0;
  bool begun = false;  // a request without a kept line so far
  for (u32 from = s.first; from != none; from = chunks_[from].next) {
    const u32 used = chunks_[from].used;
    for (u32 n = 0; n < used; ++n) {
      const u64 record = chunks_[from].records[n];
      if ((record & begins) != 0) {
        skipped += begun;
        begun = !is_skip(record);
      }
      if (is_skip(record)) {
        skipped += record >> 24;
      } else if (is_sampled(record >> 24)) {
        if (skipped != 0) keep(skips(std::exchange(skipped, 0)));
        keep(begun ? record | begins : record);
        begun = false;
      }
    }
  }
  s.skipped += skipped + begun;
  if (s.first == none) return;
  // `to` is the last chunk that is needed. If nothing was kept, no chunk is needed.
  u32 unneeded = at == 0 ? to : chunks_[to].next;
  if (at == 0) {
    s.first = s.last = none;
  } else {
    chunks_[to].used = at;
    chunks_[to].next = none;
    s.last = to;
  }
  while (unneeded != none) {
    const u32 next = chunks_[unneeded].next;
    chunks_[unneeded].next = free_chunk_;
    free_chunk_ = unneeded;
    unneeded = next;
  }
}

// Plays one request. Returns false if no request is left.
bool trace::play_request(stream& s, unsigned multiprocessor) {
  bool begun = false;
  while (s.read_chunk != none) {
    const chunk& c = chunks_[s.read_chunk];
    if (s.read_at == c.used) {
      s.read_chunk = c.next;
      s.read_at = 0;
      // Prefetches the chunk after this one, because all other warps run first.
      if (c.next != none && chunks_[c.next].next != none)
        __builtin_prefetch(&chunks_[chunks_[c.next].next]);
      continue;
    }
    const u64 record = c.records[s.read_at];
    if (begun && (record & begins) != 0) return true;
    if (is_skip(record)) {
      if (s.idle == 0) s.idle = record >> 24;
      if (--s.idle == 0) ++s.read_at;
      return true;
    }
    begun = true;
    ++s.read_at;
    // Prefetches this warp's next line for its next request.
    if (s.read_at != c.used) caches_.prefetch(multiprocessor, c.records[s.read_at] >> 24);
    const bool local = (record & of_local) != 0;
    const u64 line = record >> 24 | (local ? local_lines : 0);
    const u32 sectors = (record >> 20) & 0xf, site = static_cast<u32>(record & site_mask);
    const site_plan& p = sites_[site];
    if (p.cache == cache_use::atomic && !local)
      caches_.atomic(multiprocessor, line, sectors, site);
    else if (p.kind == access_kind::store)
      caches_.store(multiprocessor, line, sectors, (record & whole_sectors) != 0, site);
    else if (p.cache == cache_use::l2_only && p.ranged)
      caches_.load_by_copy(multiprocessor, line, sectors, site);
    else if (p.cache == cache_use::l2_only)
      caches_.load_around_l1(multiprocessor, line, sectors, site);
    else
      caches_.load(multiprocessor, line, sectors, site);
  }
  return begun;
}

void trace::play() {
  for (auto& streams : on_) streams.clear();
  for (std::size_t n = 0; n < slots_.size(); ++n) {
    if (!slots_[n].taken) continue;
    const auto multiprocessor = static_cast<std::size_t>(slots_[n].block % multiprocessors_);
    for (u32 w = 0; w < shape_.warps; ++w) {
      stream& s = stream_of(n, w);
      if (s.first == none) continue;
      s.read_chunk = s.first;
      s.read_at = 0;
      on_[multiprocessor].push_back(static_cast<u32>(n * shape_.warps + w));
    }
  }
  for (bool any = true; any;) {
    any = false;
    for (unsigned m = 0; m < multiprocessors_; ++m) {
      // Prefetches the data that the other multiprocessors have evicted from the host's caches.
      for (const u32 s : on_[m]) {
        if (streams_[s].read_chunk == none) continue;
        const chunk& c = chunks_[streams_[s].read_chunk];
        __builtin_prefetch(&c.records[streams_[s].read_at]);
        __builtin_prefetch(&c.used);
      }
      for (int k = 0; k < requests_per_round && !on_[m].empty(); ++k)
        std::erase_if(on_[m], [&](u32 s) { return !play_request(streams_[s], m); });
      any = any || !on_[m].empty();
    }
  }
  std::ranges::fill(streams_, stream{});
  used_chunks_ = 0;
  free_chunk_ = none;
  begun_ = 0;
  for (slot& s : slots_) {
    s.taken = s.taken && !s.ended;
    begun_ += s.taken;
  }
}

void trace::end() { play(); }

}  // namespace stepwise::emulator
