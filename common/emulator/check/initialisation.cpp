// Describes reads and copies of bytes that were never written.
#include "common/emulator/check/initialisation.hpp"

#include <algorithm>

#include "common/emulator/check/advice/word_updates.hpp"
#include "common/report/finding_text.hpp"

namespace stepwise::emulator {
namespace {

constexpr std::uint64_t most_looked_at = std::uint64_t{1} << 26;  // bytes of an array

}  // namespace

void initialisation_check::read_unwritten(const lane_access& t) {
  if (reads_are_allowed_) return;
  const std::uint64_t written = t.memory->written.which(t.at, static_cast<unsigned>(t.bytes));
  const auto present = static_cast<std::uint64_t>(__builtin_popcountll(written));
  if (present == t.bytes || evidence_.is_library_line(t.number)) return;
  if (t.memory->is_shared && t.at < evidence_.code->system_shared_bytes) return;
  if (only_writes(t.number)) return;
  const finding_key k = evidence_.key(finding_kind::unwritten_read, evidence_.line_number(t.number),
                                      -1, evidence_.object_address(*t.memory, t.at));
  const block_clock& b = evidence_.running().clock;
  const unwritten_reads::read r{t.at,     t.bytes, evidence_.owner_of(*t.memory),
                                t.warp,   b.index, t.lane,
                                t.number, t.op_at, written};
  reads_.add(k, r);
  if (!evidence_.log.is_new(k)) return;
  evidence_.log.add(k, describe(r, true));
  if (t.memory->is_shared) return;
  const auto* const empty = evidence_.areas.live_at(evidence_.device_base + t.at);
  if (empty == nullptr) return;
  const std::uint64_t bytes = empty->second.bytes;
  const auto bytes_in = [&](device_address at) { return written_bytes(at, bytes); };
  if (bytes > most_looked_at || bytes_in(empty->first) != 0) return;
  std::vector<device_address> full;
  for (const auto& [at, a] : evidence_.areas.live())
    if (a.bytes == bytes && bytes_in(at) == bytes) full.push_back(at);
  if (!full.empty()) empty_.push_back({k, std::move(full)});
}

std::uint64_t initialisation_check::written_bytes(device_address from, std::uint64_t bytes) const {
  const std::uint64_t start = from - evidence_.device_base;
  std::uint64_t written = 0;
  for (std::uint64_t at = 0; at < bytes; at += 64)
    written += static_cast<std::uint64_t>(__builtin_popcountll(evidence_.global.written.which(
        start + at, static_cast<unsigned>(std::min<std::uint64_t>(64, bytes - at)))));
  return written;
}

// A kernel that reads an empty array and stores to a full one has probably got the two exchanged.
void initialisation_check::ask_if_swapped(const std::vector<device_address>& stored) {
  for (const empty_array& e : empty_) {
    finding* const f = evidence_.log.find(e.key);
    const bool is_swapped = std::ranges::any_of(
        e.full, [&](device_address at) { return std::ranges::find(stored, at) != stored.end(); });
    if (f != nullptr && is_swapped)
      f->advice =
          "Nothing has been written to it so far. The kernel stores to another array of the same "
          "size, which was written before: are the two pointers swapped in the launch?";
  }
  empty_.clear();
}

bool initialisation_check::explain(const finding_key& race, const lane_access& t) {
  return !reads_.empty() && reads_.explain(race, t.at, t.bytes, evidence_.owner_of(*t.memory));
}

// Advice on what is probably missing, based on how much of the object has been written so far.
std::string initialisation_check::how_to_fill(const finding_object& o, bool is_atomic) const {
  const char* const general =
      "Memory has arbitrary contents at first: copy to it or set it (cudaMemset) before a kernel "
      "reads it or adds to it.";
  if (o.what == finding_object::kind::none || o.bytes > most_looked_at) return general;
  const std::uint64_t written = written_bytes(o.address, o.bytes);
  if (written == 0 && is_atomic)
    return "Nothing has been written to it so far, and an atomic operation starts from what is "
           "there: set it first (cudaMemset, to 0 for a sum), or store the value (=) if no other "
           "thread changes it.";
  if (written == 0)
    return "Nothing has been written to it so far: copy to it or set it (cudaMemset) first, or "
           "launch the kernel that writes it first.";
  const std::uint64_t unit =
      o.element_bytes != 0 && o.bytes % o.element_bytes == 0 && written % o.element_bytes == 0
          ? o.element_bytes
          : 1;
  const bool is_first = evidence_.global.written.all(o.address - evidence_.device_base, written);
  return std::string("Written so far: ") + (is_first && written > unit ? "the first " : "") +
         grouped(written / unit) + " of " + grouped(o.bytes / unit) +
         (unit > 1 ? " elements" : " bytes") +
         " of the array. Do the copies and the launches before this one cover all of it" +
         (is_first ? "" : " (are there enough blocks in x and in y?)") +
         (unit != o.element_bytes      ? "?"
          : is_first && written > unit ? "? If this launch should read no more, is " +
                                             grouped(written / unit) + " its number of elements?"
                                       : ", and does the index stay in the part that was written?");
}

// How much of a shared array the running block has written.
std::string initialisation_check::how_to_fill_shared(const finding_object& o,
                                                     std::uint64_t element) const {
  const std::string first = "Shared memory has arbitrary contents at first: ";
  const std::string last = "write every element before it is read.";
  if (o.what != finding_object::kind::shared_variable || element == 0 || o.bytes % element != 0)
    return first + last;
  std::uint64_t written = 0;
  for (std::uint64_t at = 0; at < o.bytes; at += element)
    written += evidence_.running().shared->written.all(o.address + at, element) ? 1 : 0;
  return first + grouped(written) + " of " + grouped(o.bytes / element) + " elements of " + o.name +
         " are written so far, by a block of " + block_shape(evidence_.config->block) +
         " threads. Does a thread, or a loop, write each of them (0, if the input has none)?";
}

// Whether the site loads a word that the same statement then adds to and stores.
bool initialisation_check::adds_to_it(const access_site& s) const {
  if (s.kind != access_kind::load || s.asynchronous || s.instruction < 0) return false;
  function_flow& f = evidence_.flow_of(evidence_.code->functions[s.function]);
  const auto update = update_by_load(f.values(), f.flow, s.instruction);
  return update && update->how == word_change::addition;
}

// Whether the site exchanges a value and nothing uses the old one.
bool initialisation_check::only_writes(std::uint32_t site) {
  const access_site& s = evidence_.site_at(site);
  if (s.kind != access_kind::atomic || s.instruction < 0) return false;
  const auto known = only_writes_.find(site);
  if (known != only_writes_.end()) return known->second;
  const register_flow& values = evidence_.flow_of(evidence_.code->functions[s.function]).values();
  const ptx::instruction& i = values.at(s.instruction);
  return only_writes_[site] = ptx::has_modifier(i, "exch") && !i.operands.empty() &&
                              !values.is_read(i.operands[0].name);
}

finding initialisation_check::describe(const unwritten_reads::read& r, bool is_running) {
  const bool is_shared = r.owner != 0;
  const std::uint64_t element = evidence_.site_at(r.site).element_bytes;
  const place_in_memory where =
      is_shared ? evidence_.describe_shared(r.at, element)
                : evidence_.describe_global(evidence_.device_base + r.at, element);
  finding f;
  f.kind = finding_kind::unwritten_read;
  f.message = "a thread reads " + where.words + ", which has not been written";
  if (r.written != 0)
    f.message = "a thread reads " + where.words + ", with only " +
                std::to_string(__builtin_popcountll(r.written)) + " of " + std::to_string(r.bytes) +
                " bytes written";
  f.parties.push_back(
      evidence_.party(r.op_at, r.warp, r.lane,
                      "reads " + std::to_string(r.bytes) + (r.bytes == 1 ? " byte" : " bytes")));
  f.parties[0].block = place(r.block, evidence_.config->grid);
  f.object = where.object;
  f.advice = is_shared ? how_to_fill_shared(where.object, is_running ? element : 0)
             : adds_to_it(evidence_.site_at(r.site))
                 ? "The statement adds to what is there: store the result (=), do not add it (+=), "
                   "or write all of the memory first. (The size of cudaMemset and cudaMemcpy is "
                   "in bytes.)"
                 : how_to_fill(where.object, evidence_.site_at(r.site).kind == access_kind::atomic);
  f.origin = evidence_.launch_origin;
  return f;
}

void initialisation_check::settle(const std::vector<device_address>& stored) {
  ask_if_swapped(stored);
  for (const auto& [key, reads] : reads_.all()) {
    if (reads.explained == 0 || !evidence_.log.take_back(key, reads.explained)) continue;
    const auto open = std::ranges::find_if(reads.open_words, [](auto words) { return words != 0; });
    if (open == reads.open_words.end()) {
      evidence_.log.take_back(key, reads.not_kept);
    } else {
      const auto number = static_cast<std::size_t>(open - reads.open_words.begin());
      evidence_.log.add(key, describe(reads.all[number], false));
    }
  }
  reads_.clear();
}

// Whether the gaps among 64 bytes may lie between the members of structures: none of them begins at
// a multiple of four or holds a whole word that does.
bool initialisation_check::looks_like_padding(std::uint64_t at, std::uint64_t gaps) const {
  for (unsigned k = 0; k < 64; ++k) {
    const bool begins = ((gaps >> k) & 1) != 0 && (k == 0 || ((gaps >> (k - 1)) & 1) == 0);
    if (begins && (at + k) % 4 == 0 &&
        (k != 0 || at == 0 || evidence_.global.written.all(at - 1, 1)))
      return false;
  }
  return static_cast<unsigned>(__builtin_popcountll(gaps)) <= 56;
}

void initialisation_check::copied_to_host(device_address from, std::uint64_t bytes) {
  const std::uint64_t at = from - evidence_.device_base;
  if (evidence_.global.written.all(at, bytes)) return;
  std::uint64_t missing = 0, first = bytes;
  bool real = false;  // more than padding in structures
  for (std::uint64_t k = 0; k < bytes; k += 64) {
    const auto n = static_cast<unsigned>(std::min<std::uint64_t>(64, bytes - k));
    const std::uint64_t full = n == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1;
    const std::uint64_t gaps = full & ~evidence_.global.written.which(at + k, n);
    if (gaps == 0) continue;
    if (!looks_like_padding(at + k, gaps)) real = true;
    missing += static_cast<std::uint64_t>(__builtin_popcountll(gaps));
    if (first == bytes) first = k + static_cast<std::uint64_t>(__builtin_ctzll(gaps));
  }
  if (!real) return;
  const place_in_memory where = evidence_.describe_global(from + first, 0);
  const finding_key k{finding_kind::unwritten_copy, evidence_.origin, -1, -1, where.object.address};
  if (!evidence_.log.is_new(k)) return;
  finding f;
  f.kind = finding_kind::unwritten_copy;
  const std::string name = where.object.name.empty() ? "the allocation" : where.object.name;
  f.message = "a copy to the host takes " + std::to_string(bytes) + " bytes, ";
  if (missing == bytes) {
    f.message += "but nothing has been written to " + name;
    f.advice = "Is the kernel that writes it launched before the copy, and did the launch succeed?";
  } else {
    f.message += std::to_string(missing) + " of which have not been written; the first is byte " +
                 std::to_string(where.object.offset) + " of " + name;
    f.advice = 2 * missing >= bytes
                   ? "Does every element have a thread that writes it: are there enough blocks and "
                     "threads, and is blockIdx in the index?"
                   : "Does a thread write every element, also in the last row, column and block?";
  }
  f.object = where.object;
  f.origin = evidence_.origin;
  evidence_.log.add(k, std::move(f));
}

}  // namespace stepwise::emulator
