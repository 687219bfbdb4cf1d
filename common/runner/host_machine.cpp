// The CPU as a machine: a call's pointers point to host memory, and its time is the host's time.
//
// idea    A GPU is compared with a CPU at its best: memory is in huge pages, close to the thread
//         that computes with it, and the times include no transfers.
// watch   Arrays are filled in bands by the threads that all CPU baselines use (thread_team.hpp),
//         so their pages are close to these threads.
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <new>

#include "common/cpu/cpu.hpp"
#include "common/cpu/thread_team.hpp"
#include "common/runner/machine.hpp"

namespace stepwise::runner {
namespace {

using clock = std::chrono::steady_clock;

constexpr std::uint64_t line_bytes = 64;  // cache line of an x86-64 CPU
constexpr std::uint64_t page_bytes = 4096, large_page_bytes = std::uint64_t{2} << 20;

std::int64_t as_count(std::uint64_t bytes) { return static_cast<std::int64_t>(bytes); }

// The size of an allocation's mapping, a multiple of the huge page size if it has at least one huge
// page.
std::uint64_t mapped_bytes(std::uint64_t bytes) {
  const std::uint64_t unit = bytes < large_page_bytes ? page_bytes : large_page_bytes;
  return (bytes + unit - 1) / unit * unit;
}

class host_machine : public machine {
 public:
  void describe(call_file_header& header) const override {
    header.device_emulated = 0;
    std::snprintf(header.device_name, sizeof header.device_name, "%s", host::cpu_name().c_str());
    header.l2_bytes = 0;
  }

  memory& host_memory() override { return *this; }

  bool needs_guards() const override { return true; }

  const char* writer() const override { return "a thread"; }

  std::byte* allocate(std::uint64_t bytes) override {
    void* const start = mmap(nullptr, mapped_bytes(bytes), PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED) throw std::bad_alloc();
    madvise(start, mapped_bytes(bytes), MADV_HUGEPAGE);  // only a hint, for speed
    return static_cast<std::byte*>(start);
  }
  void release(std::byte* allocation, std::uint64_t bytes) noexcept override {
    munmap(allocation, mapped_bytes(bytes));
  }

  void copy_in(std::byte* to, std::span<const std::byte> from) override {
    host::in_bands(as_count(from.size()), page_bytes, [&](std::int64_t begin, std::int64_t end) {
      std::memcpy(to + begin, from.data() + begin, static_cast<std::size_t>(end - begin));
    });
  }
  void copy_out(std::span<std::byte> to, const std::byte* from) override {
    host::in_bands(as_count(to.size()), page_bytes, [&](std::int64_t begin, std::int64_t end) {
      std::memcpy(to.data() + begin, from + begin, static_cast<std::size_t>(end - begin));
    });
  }
  void fill(std::byte* start, std::uint8_t value, std::uint64_t bytes) override {
    host::in_bands(as_count(bytes), page_bytes, [&](std::int64_t begin, std::int64_t end) {
      std::memset(start + begin, value, static_cast<std::size_t>(end - begin));
    });
  }

  // Flushes each cache line of the buffers. This is exact, and its time depends on the size of the
  // buffers, not on the size of the last-level cache.
  void make_cold(std::span<const std::span<std::byte>> buffers) override {
    for (const auto buffer : buffers) {
      host::in_bands(as_count(buffer.size()), page_bytes,
                     [&](std::int64_t begin, std::int64_t end) {
                       for (std::int64_t at = begin; at < end; at += line_bytes)
                         __builtin_ia32_clflush(buffer.data() + at);
                       __builtin_ia32_mfence();
                     });
    }
  }

  void start_clock() override { started_ = clock::now(); }
  float stop_clock(const char*) override {
    return std::chrono::duration<float, std::milli>(clock::now() - started_).count();
  }

 private:
  clock::time_point started_;
};

}  // namespace

std::unique_ptr<machine> make_machine() { return std::make_unique<host_machine>(); }

}  // namespace stepwise::runner
