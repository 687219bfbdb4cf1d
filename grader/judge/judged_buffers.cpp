// Fills a call's buffers, and checks them after the call.
#include "grader/judge/judged_buffers.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <random>

#include "common/lab/in_bands.hpp"
#include "grader/judge/call_file.hpp"
#include "grader/system/phases.hpp"

namespace stepwise {
namespace {

using runner::buffer_role;

// The neighbouring bytes of a zone differ, and so do the zones of different buffers.
std::vector<std::byte> guard_zone(const placed_buffer& p) {
  std::vector<std::byte> zone(p.guard);
  for (std::size_t i = 0; i < zone.size(); ++i)
    zone[i] = static_cast<std::byte>(37 * i + (p.address >> 8));
  return zone;
}

// On a GPU, a buffer starts at one of this many offsets.
constexpr std::uint64_t shifts = 16, shift_bytes = 256;

// A thread copies or compares a few megabytes in about the time that it takes to start ten threads.
constexpr std::int64_t work_each = 4;

}  // namespace

std::uint64_t random_number() {
  static std::random_device source;
  return std::uint64_t{source()} << 32 | source();
}

void copy_by_all(std::byte* to, const std::byte* from, std::size_t bytes) {
  in_bands(static_cast<std::int64_t>(bytes), work_each, [&](std::int64_t begin, std::int64_t end) {
    std::memcpy(to + begin, from + begin, static_cast<std::size_t>(end - begin));
  });
}

std::size_t first_difference(std::span<const std::byte> a, std::span<const std::byte> b) {
  std::atomic<std::size_t> first = a.size();
  in_bands(std::ssize(a), work_each, [&](std::int64_t begin, std::int64_t end) {
    const auto size = static_cast<std::size_t>(end - begin);
    if (std::memcmp(a.data() + begin, b.data() + begin, size) == 0) return;
    const auto at = static_cast<std::size_t>(
        std::mismatch(a.begin() + begin, a.begin() + end, b.begin() + begin).first - a.begin());
    std::size_t known = first;
    while (at < known && !first.compare_exchange_weak(known, at)) {
    }
  });
  return first;
}

result<std::vector<placed_buffer>> place_buffers(remote::remote_device& on,
                                                 const problem_call& call, bool with_guards,
                                                 const std::vector<placed_buffer>& kept) {
  std::vector<placed_buffer> at;
  for (std::size_t b = 0; b < call.buffers.size(); ++b) {
    const auto& buffer = call.buffers[b];
    placed_buffer& p = at.emplace_back();
    if (buffer.bytes == 0) continue;
    const std::uint64_t shift = with_guards ? random_number() % shifts : 0;
    p.guard = with_guards ? runner::guard_bytes : 0;
    if (kept.empty()) {
      const auto made =
          on.allocate(buffer.bytes + 2 * p.guard + (with_guards ? shifts * shift_bytes : 0));
      if (!made.ok()) return made.failure();
      p.allocation = *made;
    } else {
      p.allocation = kept[b].allocation;
    }
    p.address = p.allocation + p.guard + shift_bytes * shift;
    on.name_allocation(p.address, buffer.name);
    status s;
    if (p.guard != 0) {
      const auto zone = guard_zone(p);
      s = on.write(p.address - p.guard, zone);
      if (s.ok()) s = on.write(p.address + buffer.bytes, zone);
    }
    if (s.ok() && buffer.role == buffer_role::input)
      s = on.write(p.address, std::span(buffer.data).first(buffer.bytes));
    if (!s.ok()) return s;
  }
  // Like a runner, fill the buffers only after all allocations.
  for (std::size_t b = 0; b < at.size(); ++b) {
    const auto& buffer = call.buffers[b];
    if (buffer.role == buffer_role::input || buffer.bytes == 0) continue;
    if (const status s = on.fill(at[b].address, fill_byte(random_number()), 1, buffer.bytes);
        !s.ok())
      return s;
    on.forget_contents(at[b].address, buffer.bytes);
  }
  return at;
}

result<call_outcome> take_buffers(remote::remote_device& on, const call_file& file,
                                  std::size_t plan, const std::vector<placed_buffer>& at) {
  const problem_call& call = file.call(plan);
  std::vector<std::byte> found;
  for (std::size_t b = 0; b < at.size(); ++b) {
    const auto& buffer = call.buffers[b];
    const placed_buffer& p = at[b];
    if (buffer.bytes == 0) continue;
    const auto parameter = fmt::format("pointer parameter {} ({})", b + 1, buffer.name);
    for (const bool behind : {false, true}) {
      if (p.guard == 0) break;
      found.resize(p.guard);
      const auto where = behind ? p.address + buffer.bytes : p.address - p.guard;
      if (const status s = on.read(found, where); !s.ok()) return s;
      if (found != guard_zone(p))
        return call_outcome{verdict::check,
                            fmt::format("a kernel wrote {} of {}",
                                        behind ? "past the end" : "before the start", parameter)};
    }
    if (buffer.role == buffer_role::output) {
      if (const status s = on.read(file.output_area(plan, b), p.address); !s.ok()) return s;
    } else if (buffer.role == buffer_role::input) {
      const phase comparing("inputs compared");
      std::size_t differs = buffer.bytes;
      const status s = on.read_pieces(
          p.address, buffer.bytes, [&](std::size_t at, std::span<const std::byte> piece) {
            const auto same =
                first_difference(piece, std::span(buffer.data).subspan(at, piece.size()));
            if (same < piece.size()) differs = at + same;
            return same == piece.size();
          });
      if (!s.ok()) return s;
      if (differs < buffer.bytes)
        return call_outcome{
            verdict::wrong,
            fmt::format("{}[{}] was changed, but the function must not change {}, which is const",
                        buffer.name, differs / buffer.element_bytes, buffer.name)};
    }
  }
  return call_outcome{};
}

void give_back(remote::remote_device& on, const problem_call& call,
               const std::vector<placed_buffer>& at) {
  for (std::size_t b = 0; b < at.size(); ++b) {
    if (at[b].guard != 0) (void)on.fill(at[b].address, 0, 1, call.buffers[b].bytes);
    (void)on.free(at[b].allocation);
  }
  (void)on.synchronize();
}

std::uint64_t array_bytes(const problem_call& call) {
  std::uint64_t bytes = 0;
  for (const auto& buffer : call.buffers) bytes += aligned_to_line(buffer.bytes);
  return bytes;
}

std::vector<placed_array> place_arrays(const array_memory& memory, const problem_call& call) {
  std::vector<placed_array> at;
  std::uint64_t offset = 0;
  for (const auto& buffer : call.buffers) {
    const std::uint32_t poison = fill_byte(random_number());
    for (const auto& place : {memory.program, memory.judge}) {
      if (buffer.role == buffer_role::input) {
        std::memcpy(place.data() + offset, buffer.data.data(), buffer.bytes);
      } else {
        std::memset(place.data() + offset, static_cast<int>(poison), buffer.bytes);
      }
    }
    at.push_back({offset, poison});
    offset += aligned_to_line(buffer.bytes);
  }
  return at;
}

call_outcome take_arrays(const array_memory& memory, const call_file& file, std::size_t plan,
                         const std::vector<placed_array>& at) {
  const auto& buffers = file.call(plan).buffers;
  for (std::size_t b = 0; b < buffers.size(); ++b) {
    if (buffers[b].role != buffer_role::output) continue;
    const auto output = file.output_area(plan, b);
    std::memcpy(output.data(), memory.judge.data() + at[b].offset, output.size());
    const auto seen = memory.program.subspan(at[b].offset, output.size());
    const auto differs = std::mismatch(output.begin(), output.end(), seen.begin()).first;
    if (differs != output.end())
      return {verdict::check,
              fmt::format("computes on the host: byte {} of {} differs from the bytes copied from "
                          "the device; {}",
                          differs - output.begin(), buffers[b].name,
                          file.call(plan).memory == runner::memory_kind::files
                              ? "write to the file what was copied, in the order of the copies"
                              : "copy results straight into the array")};
  }
  return {};
}

}  // namespace stepwise
