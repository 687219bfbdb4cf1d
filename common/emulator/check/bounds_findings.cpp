// Describes accesses outside of memory, wrong frees and leaks.
#include <cstring>
#include <iterator>

#include "common/emulator/check/bounds.hpp"
#include "common/emulator/check/overflow.hpp"
#include "common/report/finding_text.hpp"

namespace stepwise::emulator {
namespace {

std::string count_of_bytes(std::uint64_t n) {
  return std::to_string(n) + (n == 1 ? " byte" : " bytes");
}

const char* verb_of(access_kind k) {
  return k == access_kind::load ? "reads" : k == access_kind::store ? "writes" : "updates";
}

// "writes 4 bytes"
std::string does_words(const access_site& s) {
  return std::string(verb_of(s.kind)) + " " + count_of_bytes(s.bytes) +
         (s.kind == access_kind::atomic ? " atomically" : "");
}

std::string hexadecimal(std::uint64_t v) {
  char text[20];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(v));
  return text;
}

// The position of an access that is not wholly in the object.
std::string past_which_end(const finding_object& object) {
  const std::string distance = distance_words(object);
  return distance.empty() ? "across the end" : distance;
}

// The object's size in elements of the access ("5 elements"), or else in bytes ("20 bytes").
std::string size_of(const finding_object& object) {
  const std::uint64_t element = object.element_bytes;
  if (element < 2 || object.bytes % element != 0) return count_of_bytes(object.bytes);
  const std::uint64_t n = object.bytes / element;
  return std::to_string(n) + (n == 1 ? " element" : " elements");
}

// Describes an access to global memory at an address that the device never uses.
void at_no_device_address(const access_site& s, std::uint64_t at, bool near_device, finding& f) {
  static constexpr const char* space[] = {"shared", "local", "parameter"};
  const std::string does = std::string("a thread ") + verb_of(s.kind) + " ";
  const std::uint64_t window = (at - shared_window) / window_bytes;
  f.kind = at < 4096 ? finding_kind::out_of_bounds : finding_kind::wrong_pointer;
  f.object.address = at < 4096 ? 0 : at & ~std::uint64_t{4095};
  if (at < 4096) {
    f.message = does + count_of_bytes(s.bytes) +
                (at == 0 ? " through a null pointer"
                         : " at address " + hexadecimal(at) + ", just after a null pointer");
    f.advice = "Was the memory allocated, and did cudaMalloc succeed?";
    if (at != 0)
      f.advice += " If the pointer is a member of a structure, was it set before this kernel ran?";
  } else if (window < std::size(space)) {
    f.message = does + "global memory through a pointer to " + space[window] + " memory";
    f.advice =
        "An instruction for global memory got another space's address; was a pointer "
        "converted by hand (__cvta_generic_to_...)?";
  } else if (near_device) {
    f.kind = finding_kind::out_of_bounds;
    f.message = does + count_of_bytes(s.bytes) + " at " + hexadecimal(at) +
                ", far outside of every allocation";
    f.advice = "Check the values from which the index is computed: are all of them set?";
  } else {
    f.message = does + count_of_bytes(s.bytes) + " at " + hexadecimal(at) +
                ", which is not a device address; it looks like a host address";
    f.advice = "Pass the pointer that cudaMalloc returned, and copy the data with cudaMemcpy.";
  }
}

// Whether the thread's number in a one-dimensional grid is a valid index.
bool is_number_inside(const launch_config& config, const finding_object& object,
                      std::uint64_t thread) {
  const bool is_1d = config.grid.y * config.grid.z * config.block.y * config.block.z == 1;
  return is_1d && thread < object.bytes / std::max<std::uint64_t>(1, object.element_bytes);
}

// Only the last blocks of a grid can extend past the end of an array. A thread of an earlier block
// is inside it.
bool is_inner_block(const launch_config& config, const extent& block) {
  return block.x + 1 < config.grid.x && block.y + 1 < config.grid.y;
}

std::uint64_t number_of(const launch_config& config, const finding_party& by) {
  return std::uint64_t{by.block.x} * config.block.x + by.thread.x;
}

bool has_rows(const launch_config& config) { return config.grid.y * config.block.y > 1; }

// "thread 300 of the grid", or "thread x = 37, y = 0 of the grid"
std::string thread_of_grid(const launch_config& config, const finding_party& by) {
  const std::string x = std::to_string(number_of(config, by));
  if (!has_rows(config)) return "thread " + x + " of the grid";
  const std::uint64_t y = std::uint64_t{by.block.y} * config.block.y + by.thread.y;
  return "thread x = " + x + ", y = " + std::to_string(y) + " of the grid";
}

// Asks about a short if this thread is the first in the grid whose number does not fit in one.
std::string short_words(const launch_config& config, const finding_party& by) {
  constexpr std::uint64_t first_too_large = 1 << 15;
  const std::uint64_t y = std::uint64_t{by.block.y} * config.block.y + by.thread.y;
  if (number_of(config, by) != first_too_large && y != first_too_large) return "";
  return " A short holds at most 32767: is this number, or the index, kept in one? Use an int.";
}

// Advice for an index below 0.
std::string advice_before_start(const launch_config& config, const finding_object& object,
                                const finding_party& by) {
  constexpr std::int64_t far_below = -(1 << 24);
  const auto size = static_cast<std::int64_t>(object.bytes);
  if (object.offset < std::min(far_below, -16 * size))
    return "The index is far below 0: limit (clamp) each of the numbers from which it is computed, "
           "and check that all of them are set.";
  const auto element = static_cast<std::int64_t>(std::max<std::uint64_t>(1, object.element_bytes));
  constexpr std::int64_t shorts = 1 << 15;  // the values of a short that are not negative
  const std::int64_t index = object.offset / element;
  if (size / element > shorts && index >= -shorts && index < -shorts / 2)
    return "The index is below 0 in " + thread_of_grid(config, by) +
           ": is it computed in a short, which holds at most 32767? If not, check what is "
           "subtracted from it.";
  return "The index is below 0 in " + thread_of_grid(config, by) +
         ": check what is subtracted in the first rows and columns, and whether the guard should "
         "let this thread through (<, <=, &&, ||)." +
         (index == -1 && !has_rows(config) ? " If -1 stands for \"none\", it is not an index."
                                           : "") +
         short_words(config, by);
}

// The threads of all blocks that are not the last of their row or column.
std::uint64_t inner_threads(const launch_config& config) {
  const auto but_last = [](std::uint64_t blocks) { return std::max<std::uint64_t>(2, blocks) - 1; };
  if (config.grid.x * config.grid.y < 2) return 0;
  return but_last(config.grid.x) * but_last(config.grid.y) * volume(config.block);
}

// Advice for an index that is too large.
std::string advice_past_end(const launch_config& config, const finding_object& object,
                            const finding_party& by, const access_site& site) {
  if (const std::string swapped = swapped_launch_words(config); !swapped.empty())
    return "The" + swapped.substr(5);
  // The caller names its arrays; others were allocated by the function itself.
  const bool is_own = object.name.empty();
  if (is_own && object.element_bytes > 1 && object.bytes % object.element_bytes != 0)
    return count_of_bytes(object.bytes) + " are not a multiple of " +
           std::to_string(object.element_bytes) +
           ": either the access is wider than the elements (an int* to bytes), or cudaMalloc, "
           "which takes a size in bytes, lacks * sizeof(type).";
  const std::uint64_t thread = number_of(config, by);
  const std::uint64_t elements = object.bytes / std::max<std::uint64_t>(1, object.element_bytes);
  if (is_own && inner_threads(config) > elements)
    return "The allocation has room for " + std::to_string(elements) +
           " elements, but the grid has " + std::to_string(inner_threads(config)) +
           " threads even without its last blocks: is its size that of the whole array, in bytes?" +
           (object.bytes == sizeof(void*) ? " sizeof(pointer) is 8." : "");
  const std::uint64_t index =
      static_cast<std::uint64_t>(object.offset) / std::max<std::uint64_t>(1, object.element_bytes);
  if (site.kind != access_kind::load && index > 0 && index == by.block.x && by.thread.x == 0 &&
      config.block.x > 1 && !has_rows(config) && config.grid.x > elements)
    return "Block " + std::to_string(index) + " accesses element " + std::to_string(index) +
           ", and the grid has " + std::to_string(config.grid.x) +
           " blocks: if each block stores one element here, does the launch start more blocks than "
           "there are elements?";
  std::string advice =
      "Compare every index with its own length before the access, in the last block and in the "
      "last pass of a loop, too";
  if (site.element_bytes != 0 && site.bytes > site.element_bytes) {
    const std::uint64_t width = site.bytes / site.element_bytes;
    const std::string wide = std::to_string(width);
    if (!has_rows(config) && thread > 0 && index == thread * width * width)
      return "Thread " + std::to_string(thread) + " accesses element " + std::to_string(index) +
             ", which is " + std::to_string(thread) + " * " + std::to_string(width * width) +
             ": the index of an array of vectors counts vectors of " + wide +
             ", so do not multiply it by " + wide + ".";
    advice = "The access takes " + wide +
             " elements at once: compare the index of the last one with the length, in rows and in "
             "columns, and access single elements where a length is not a multiple of " +
             wide;
  } else if (is_inner_block(config, by.block)) {
    advice =
        "The block is not one of the last ones of the grid, so the index itself is probably wrong: "
        "is the row multiplied by the length of a row, and nothing else? " +
        advice;
  } else if (has_rows(config)) {
    advice =
        "Compare the row and the column of this index with the number of rows and of columns, "
        "and multiply the row by the length of a row. It is " +
        thread_of_grid(config, by);
  } else if (is_number_inside(config, object, thread) && thread > 0) {
    advice =
        "Check how thread " + std::to_string(thread) + " of the grid gets this index. " + advice;
  }
  if (is_own) advice += "; check the allocation's size";
  if (is_own && object.bytes == sizeof(void*)) advice += ": sizeof(pointer) is 8";
  return advice + ".";
}

}  // namespace

void bounds_check::outside(const access_event& e, int lane, std::uint64_t at) {
  if (launch_could_give(e, at)) return note_missing_shared(e, lane, at);
  const access_site& s = *e.site;
  const bool misaligned = (at & (s.bytes - std::uint64_t{1})) != 0;
  finding f;
  f.origin = evidence_.launch_origin;
  f.parties.push_back(evidence_.party(e.at, e.warp, lane, does_words(s)));
  const auto found = e.space == memory_space::global ? evidence_.areas.usable(at) : std::nullopt;
  const bool inside = e.space == memory_space::global
                          ? found && s.bytes <= found->bytes - (at - found->base)
                      : e.space == memory_space::shared ? at < evidence_.state->shared_bytes
                                                        : at < local_limit();
  if (misaligned && inside) {
    place_in_memory where;
    where.words = "local memory";
    if (e.space == memory_space::global) where = evidence_.describe_global(at, 0);
    if (e.space == memory_space::shared) where = evidence_.describe_shared(at, 0);
    f.kind = finding_kind::misaligned;
    f.object = where.object;
    f.message = "a thread " + std::string(verb_of(s.kind)) + " " + count_of_bytes(s.bytes) +
                " at once at " + where.words + ", whose address is not a multiple of " +
                std::to_string(s.bytes);
    if (s.element_bytes != 0 && s.bytes > s.element_bytes) {
      const std::string wide = std::to_string(s.bytes / s.element_bytes);
      f.advice =
          "A vector such as float4 must lie at a multiple of its size: check the index. In a "
          "matrix, the length of a row of " +
          (f.object.name.empty() ? "this array" : f.object.name) + " must be a multiple of " +
          wide + ", too; access single elements if it is not.";
    } else {
      f.advice =
          "Is a pointer to bytes advanced by a number of elements, without * sizeof(type), or is "
          "the width of a row of bytes not a multiple of " +
          std::to_string(s.bytes) + "?";
    }
  } else if (e.space == memory_space::global) {
    outside_global(e, at, f);
  } else if (e.space == memory_space::shared) {
    outside_shared(e, at, f);
  } else {
    f.kind = finding_kind::out_of_bounds;
    f.object.what = finding_object::kind::local_memory;
    f.object.bytes = local_limit();
    f.object.offset = static_cast<std::int64_t>(at);
    f.message = "a thread " + std::string(verb_of(s.kind)) + " " + count_of_bytes(s.bytes) +
                " outside of its local memory";
    f.advice = "Check the index of the local array.";
  }
  const finding_key k = evidence_.key(f.kind, evidence_.place_number(e.at), -1, f.object.address);
  const bool is_new = evidence_.log.is_new(k);
  if (is_new && !misaligned && e.space == memory_space::global) explain_overflow(e, lane, f);
  note_one_past_end(f, k);
  evidence_.fail(
      f.kind == finding_kind::misaligned ? error::misaligned_address : error::illegal_address, f);
  if (is_new) evidence_.log.add(k, std::move(f));
}

// Notes whether all accesses outside are one thread's, each just past the end of an array.
void bounds_check::note_one_past_end(const finding& f, const finding_key& k) {
  one_past_end& one = one_past_end_;
  const finding_party& by = f.parties.front();
  const auto same = [](const extent& a, const extent& b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
  };
  const auto& config = *evidence_.config;
  const bool is_next = f.kind == finding_kind::out_of_bounds && f.object.bytes > 0 &&
                       f.object.what == finding_object::kind::allocation &&
                       f.object.offset == static_cast<std::int64_t>(f.object.bytes);
  const bool is_guarded = config.grid.y * config.block.y > 1 ||
                          is_number_inside(config, f.object, number_of(config, by));
  if (!one.first) {
    one = {k, by.block, by.thread, is_next && is_guarded};
  } else {
    one.is_only =
        one.is_only && is_next && same(one.block, by.block) && same(one.thread, by.thread);
  }
}

// If a 32-bit operation of the index did not fit, that is the cause.
void bounds_check::explain_overflow(const access_event& e, int lane, finding& f) {
  const auto [function, instruction] = evidence_.instruction_of(e.at);
  const auto value_of =
      [&, &registers = function->registers](std::string_view name) -> std::optional<std::uint64_t> {
    const auto r = registers.find(std::string(name));
    if (r == registers.end() || r->second.bytes == 0) return std::nullopt;
    const std::byte* const at = evidence_.state->registers + r->second.offset +
                                static_cast<std::size_t>(lane) * r->second.bytes;
    std::uint64_t value = 0;
    std::memcpy(&value, at, r->second.bytes);
    return value;
  };
  const auto found = find_overflow(evidence_.flow_of(*function).values(), instruction, value_of);
  if (!found) return;
  std::uint32_t number = 0;
  while (&evidence_.code->functions[number] != function) ++number;
  const code_place at = evidence_.source.of(*evidence_.code, number, found->instruction);
  const std::string line = at.line != 0 ? " at line " + std::to_string(at.line) : "";
  if (f.kind == finding_kind::wrong_pointer) {  // so far away that it seemed to be the host's
    f.kind = finding_kind::out_of_bounds;
    f.message = std::string("a thread ") + does_words(*e.site) + ", outside of every allocation";
  }
  if (!found->is_signed && found->exact.starts_with('-')) {
    f.message += "; its index fell below 0" + line;
    f.advice =
        "An unsigned number cannot hold a negative value: compute the index in an int, and check "
        "it.";
    return;
  }
  f.message += "; its index overflowed" + line;
  f.advice = found->operation + " = " + found->exact + " does not fit in " +
             (found->is_signed ? "an int" : "32 bits") +
             ": compute the index in 64 bits, and check the number of blocks.";
}

void bounds_check::outside_global(const access_event& e, std::uint64_t at, finding& f) {
  const access_site& s = *e.site;
  const std::string does = std::string("a thread ") + verb_of(s.kind) + " ";
  const auto* const here = evidence_.areas.live_at(at);
  // The access was probably meant for the allocation that the instruction touched first.
  const access_window meant =
      e.index < first_windows_.size() ? first_windows_[e.index] : access_window();
  const auto d = here == nullptr && meant.bytes != 0
                     ? evidence_.describe_global(at, s.element_bytes, meant.base)
                     : evidence_.describe_global(at, s.element_bytes);
  f.object = d.object;
  if (here != nullptr && here->second.constant && s.kind != access_kind::load) {
    f.kind = finding_kind::wrong_pointer;
    f.message = does + d.words + ", which is constant memory";
    f.advice = "Kernels only read __constant__ memory; the host writes it (cudaMemcpyToSymbol).";
  } else if (here == nullptr && meant.bytes == 0 && evidence_.areas.freed_at(at) != nullptr) {
    f.kind = finding_kind::use_after_free;
    f.message = does + d.words + ", in memory that was freed";
    f.advice = "Free it after the last kernel that uses it has ended.";
  } else if (d.object.what != finding_object::kind::none) {
    f.kind = finding_kind::out_of_bounds;
    const std::string words = d.words.substr(0, d.words.find(" of an allocation"));
    f.message = does + words + ", " + past_which_end(f.object) + " of " +
                (f.object.name.empty() ? "an allocation of " : f.object.name + ", which has ") +
                size_of(f.object);
    f.advice = f.object.offset < 0
                   ? advice_before_start(*evidence_.config, f.object, f.parties.front())
                   : advice_past_end(*evidence_.config, f.object, f.parties.front(), s);
  } else if (evidence_.memory.is_device(at)) {
    f.kind = finding_kind::out_of_bounds;
    f.object.address = at & ~std::uint64_t{4095};
    f.message =
        does + count_of_bytes(s.bytes) + " at " + hexadecimal(at) + ", which no allocation holds";
    f.advice = "Check the pointer: was it computed from an allocation that exists?";
  } else {
    at_no_device_address(s, at, evidence_.memory.is_near_device(at), f);
  }
}

void bounds_check::outside_shared(const access_event& e, std::uint64_t at, finding& f) {
  const access_site& s = *e.site;
  f.kind = finding_kind::out_of_bounds;
  const auto d = evidence_.describe_shared(at, s.element_bytes);
  f.object = d.object;
  const auto size = static_cast<std::int64_t>(f.object.bytes);
  const std::string does = std::string("a thread ") + verb_of(s.kind) + " ";
  const std::string what = f.object.name.empty() ? "the block's shared memory" : f.object.name;
  f.message = does + d.words + ", " + past_which_end(f.object) + " of " + what + ", which has " +
              size_of(f.object);
  const bool is_short =
      f.object.what == finding_object::kind::dynamic_shared && f.object.offset >= size;
  const std::string shape = block_shape(evidence_.config->block);
  const auto thread = static_cast<std::int64_t>(f.parties.front().thread.x);
  const auto element = static_cast<std::int64_t>(std::max<std::uint64_t>(1, s.element_bytes));
  const bool has_own_element = thread > 0 && f.object.offset == thread * element;
  const bool is_row = evidence_.config->block.y * evidence_.config->block.z == 1;
  if (is_row && reads_special(*evidence_.code, special::tid_y)) {
    f.advice = "The kernel reads threadIdx.y, but the block has only one row, of " + shape +
               " threads: launch it with a dim3 of several rows, or compute the row from "
               "threadIdx.x.";
  } else if (is_row && has_own_element && size > 0) {
    const std::int64_t elements = size / element;
    const bool is_of_warps = elements > 1 && static_cast<std::uint64_t>(elements) * lanes ==
                                                 volume(evidence_.config->block);
    f.advice =
        "Only the first " + std::to_string(elements) + " of " + shape +
        " threads have an element here: " +
        (is_of_warps ? "if it is one per warp, is the index threadIdx.x / 32? Otherwise, " : "") +
        "compare threadIdx.x with the number of elements first" +
        (is_short ? ", or pass more bytes as the third launch parameter."
                  : ", or give the array an element for each thread.");
  } else if (is_short &&
             static_cast<std::uint64_t>(size / element) == volume(evidence_.config->block)) {
    f.advice = "There is one element for each of the " + shape +
               " threads: check the index (a tree's first distance is half the block), or pass "
               "more bytes as the third launch parameter.";
  } else if (is_short) {
    f.advice = "Check the index, or pass more bytes as the third launch parameter.";
  } else if (const extent& b = f.parties.front().block; b.x + b.y + b.z != 0) {
    f.advice = "Block (" + std::to_string(b.x) + "," + std::to_string(b.y) + "," +
               std::to_string(b.z) +
               ") is the first that leaves the array: is blockIdx in this index? Every block has "
               "shared memory of its own, so compute its index from threadIdx and loop variables.";
  } else {
    f.advice =
        "A block has " + shape +
        " threads: do the array, the index and each loop's step fit this shape? If / and % split "
        "a number, do they take the length of a row, and does every loop end in time?";
  }
}

// Whether the access would be valid if the launch passed more dynamic shared memory.
bool bounds_check::launch_could_give(const access_event& e, std::uint64_t at) const {
  const std::uint64_t bytes = e.site->bytes, own = evidence_.code->system_shared_bytes;
  return e.space == memory_space::shared && !evidence_.code->dynamic_shared.empty() &&
         (at & (bytes - 1)) == 0 && at >= evidence_.code->static_shared_bytes &&
         at + bytes > evidence_.state->shared_bytes &&
         at + bytes - own - evidence_.code->shared_gap_bytes <=
             evidence_.model.shared_bytes_per_block_optin;
}

// All such accesses of a launch have one cause: the launch passes too little. If it passes some,
// and only one line goes beyond, that line is the cause. It may have several instructions,
// because an unrolled loop repeats them.
void bounds_check::note_missing_shared(const access_event& e, int lane, std::uint64_t at) {
  const access_site& s = *e.site;
  missing_shared& m = missing_shared_;
  m.bytes = std::max(m.bytes, at + s.bytes - evidence_.code->static_shared_bytes);
  if (m.count++ != 0) {
    if (m.several || m.place == evidence_.place_number(e.at)) return;
    const code_place &first = m.first.parties.front().at,
                     now = evidence_.source.of(*evidence_.code, e.at);
    m.several = now.line == 0 || now.line != first.line || now.file != first.file;
    return;
  }
  m.place = evidence_.place_number(e.at);
  m.first.origin = evidence_.launch_origin;
  m.first.parties.push_back(evidence_.party(e.at, e.warp, lane, does_words(s)));
  outside_shared(e, at, m.first);
  m.fails_launch = evidence_.failure.ok();
}

status bounds_check::end_launch(const status&) {
  if (one_past_end_.is_only) {
    finding* const f = evidence_.log.find(*one_past_end_.first);
    if (f != nullptr)
      f->advice =
          "Only this thread leaves an array, and by one element: is a 1 missing in an index that "
          "counts from the end, as in length - 1 - i, or is <= written for <?";
  }
  missing_shared& m = missing_shared_;
  if (m.count == 0) return evidence_.failure;
  finding& f = m.first;
  f.count = m.count;
  finding_key k = evidence_.key(f.kind, m.place, -1, f.object.address);
  const std::uint64_t given = evidence_.config->dynamic_shared_bytes;
  if (given == 0 || m.several) {
    f.kind = finding_kind::too_little_shared;
    f.object.name = evidence_.as_kernel_names(evidence_.code->dynamic_shared);
    f.message = "the launch passes " + (given == 0 ? "no" : count_of_bytes(given) + " of") +
                " dynamic shared memory, and the kernel uses at least " + count_of_bytes(m.bytes) +
                " of " + f.object.name;
    f.advice =
        "Pass the size of extern __shared__ memory in bytes, the third launch parameter: "
        "<<<grid, block, bytes>>>";
    f.advice += given == 0 ? "." : "; if it is right, check the index.";
    k = evidence_.key(f.kind, static_cast<std::int64_t>(evidence_.launch_origin), -1, given);
  }
  if (m.fails_launch) evidence_.failure = {};
  evidence_.fail(error::illegal_address, f);
  if (evidence_.log.is_new(k, m.count)) evidence_.log.add(k, std::move(f));
  return evidence_.failure;
}

// --- frees and leaks -----------------------------------------------------------------------------

void bounds_check::refused_free(device_address at) {
  finding f;
  f.kind = finding_kind::double_free;
  f.advice = "Free each allocation once, with the pointer that cudaMalloc returned.";
  const auto* const before = evidence_.areas.freed_at(at);
  if (before != nullptr && before->first == at) {
    f.message = "memory is freed twice";
    f.object = evidence_.describe_global(at, 1).object;
    // Only a caller names its arrays, and the caller also frees them.
    if (!before->second.name.empty()) {
      f.message = before->second.name + " is freed twice, the second time by the caller";
      f.advice = "Free only what the function itself has allocated.";
    }
  } else if (evidence_.areas.live_at(at) != nullptr) {
    f.message = "the freed address is not the start of an allocation";
    f.object = evidence_.describe_global(at, 1).object;
  } else {
    f.message = "the freed address belongs to no allocation";
  }
  f.origin = evidence_.origin;
  const finding_key k{f.kind, evidence_.origin, -1, -1, at};
  if (evidence_.log.is_new(k)) evidence_.log.add(k, std::move(f));
}

void bounds_check::heap_gave(const warp_event& e, int lane, device_address at,
                             std::uint64_t bytes) {
  evidence_.global.written.clear(at - evidence_.device_base, bytes);
  evidence_.areas.allocated(
      at, {.bytes = bytes,
           .by_kernel = std::make_shared<finding_party>(evidence_.party(
               e.at, e.warp, lane, "allocates " + std::to_string(bytes) + " bytes")),
           .allocated_at = evidence_.sequence.now()});
}

void bounds_check::heap_got(const warp_event& e, int lane, device_address at, bool is_known) {
  if (is_known) return evidence_.areas.freed(at, evidence_.origin);
  finding f;
  f.kind = finding_kind::double_free;
  const auto* const before = evidence_.areas.freed_at(at);
  f.message = before != nullptr && before->first == at
                  ? "a thread frees memory twice"
                  : "a thread frees an address that malloc in a kernel did not return";
  f.object = evidence_.describe_global(at, 1).object;
  f.parties.push_back(evidence_.party(e.at, e.warp, lane, "frees"));
  f.advice = "Free each block once, in a kernel, with the pointer that malloc returned there.";
  f.origin = evidence_.launch_origin;
  evidence_.reported = evidence_.instruction_of(e.at);
  const finding_key k = evidence_.key(f.kind, evidence_.place_number(e.at), -1, 0);
  if (evidence_.log.is_new(k)) evidence_.log.add(k, std::move(f));
}

void bounds_check::leak_of_kernel(device_address at, const allocation& a) {
  const finding_key k{finding_kind::leak, 0, a.by_kernel->at.line, -1, 0};
  if (!evidence_.log.is_new(k)) return;
  finding f;
  f.kind = finding_kind::leak;
  f.message = std::to_string(a.bytes) + " bytes that a kernel allocated were not freed";
  f.object = evidence_.describe_global(at, 1).object;
  f.parties.push_back(*a.by_kernel);
  f.advice = "Call free in a kernel when the memory is no longer needed.";
  evidence_.log.add(k, std::move(f));
}

void bounds_check::report_leaks() {
  for (const auto& [at, a] : evidence_.areas.live()) {
    if (a.variable) continue;
    if (a.by_kernel != nullptr) {
      leak_of_kernel(at, a);
      continue;
    }
    const finding_key k{finding_kind::leak, a.allocated_by, -1, -1, 0};
    if (!evidence_.log.is_new(k)) continue;
    finding f;
    f.kind = finding_kind::leak;
    f.message = std::to_string(a.bytes) + (a.mapped ? " bytes of mapped memory were not unmapped"
                                                    : " bytes of device memory were not freed");
    f.object = evidence_.describe_global(at, 1).object;
    f.origin = a.allocated_by;  // the runtime knows which function frees memory from this call
    evidence_.log.add(k, std::move(f));
  }
}

}  // namespace stepwise::emulator
