// A runner without CUDA that doubles each int of its input. FAKE says whether and how it
// misbehaves.
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <new>
#include <string>
#include <vector>

#include "common/lab/call_file.hpp"

namespace {

using namespace stepwise::runner;

std::string behaviour() {
  const char* text = std::getenv("FAKE");
  return text == nullptr ? "good" : text;
}

void compute(char* data, call_record& record, const std::string& what) {
  const auto* in = reinterpret_cast<const std::int32_t*>(data + record.buffers[0].offset);
  auto* out = reinterpret_cast<std::int32_t*>(data + record.buffers[1].offset);
  // "reused": wrong, and in half the time, if the buffers are those of the previous call.
  const bool half = what == "reused" && record.plan.buffers == buffers_are::reused;
  for (std::int64_t i = 0; i < record.scalars[0]; ++i) {
    const auto bits = static_cast<std::uint32_t>(in[i]);
    out[i] = static_cast<std::int32_t>(2 * bits + (what == "wrong" || half ? 1 : 0));
  }
  // FAKE_MS is the time of a call. Every third call is slightly slower, as on a real machine.
  const char* ms = std::getenv("FAKE_MS");
  auto* times = reinterpret_cast<float*>(data + record.times_offset);
  for (std::uint32_t r = 0; r < record.plan.repetitions; ++r) {
    times[r] = (ms == nullptr ? 1.0f : std::strtof(ms, nullptr)) * (r % 3 == 2 ? 1.01f : 1.0f) *
               (half ? 0.5f : 1.0f);
  }
  if (record.plan.busy_ms > 0) {
    record.busy_calls =
        static_cast<std::uint32_t>(static_cast<float>(record.plan.busy_ms) / times[0]);
    record.busy_took_ms = record.plan.busy_ms;
  }
  record.counters.valid = 1;
  record.counters.warp_instructions = 100;
  record.counters.global_load_bytes = 4 * static_cast<std::uint64_t>(record.scalars[0]);
  record.state = call_state::done;
}

// FAKE_LOG names a file to which each call appends a line: "n = 1000, reused, uploaded, cold, 1 +
// 3".
void write_log(const call_record& record) {
  static std::uint64_t left_at = 0;  // offset of the input that is on the device
  const char* const log = std::getenv("FAKE_LOG");
  if (log == nullptr) return;
  const bool is_fresh = record.plan.buffers == buffers_are::fresh;
  const bool is_there = !is_fresh && left_at == record.buffers[0].offset;
  left_at = is_fresh ? 0 : record.buffers[0].offset;
  std::ofstream(log, std::ios::app)
      << "n = " << record.scalars[0]
      << (is_fresh                                   ? ", fresh"
          : record.plan.buffers == buffers_are::left ? ", left"
                                                     : ", reused")
      << (is_there ? "" : ", uploaded") << (record.plan.cold_l2 != 0 ? ", cold, " : ", warm, ")
      << record.plan.warmups << " + " << record.plan.repetitions
      << (record.plan.busy_ms > 0 ? ", busy " + std::to_string(record.plan.busy_ms) : "") << "\n";
}

void misbehave(call_record& record, const std::string& what, int file) {
  if (what == "crash") raise(SIGSEGV);
  if (what == "host access") {
    std::fputs("stepwise: f at x.cu:7: the host reads device memory: byte 0 of in\n", stderr);
    raise(SIGSEGV);
  }
  if (what == "illegal") raise(SIGILL);
  if (what == "exit") _exit(0);
  if (what == "hang") {
    while (true) pause();
  }
  if (what == "orphan") {  // a child process that keeps the pipes open
    if (fork() == 0) {
      while (true) pause();
    }
    _exit(5);
  }
  if (what == "memory") {
    std::vector<char*> kept;
    while (true) kept.push_back(new char[64 << 20]);
  }
  if (what == "flood") {
    while (true) std::puts("all work and no play makes Jack a dull boy");
  }
  if (what == "escape") std::puts("\x1b[31mred\x1b]0;title\a and \xff\xfe not UTF-8");
  if (what == "limit") std::puts(std::getenv("STEPWISE_TIME_LIMIT_S"));
  if (what == "truncate" && ftruncate(file, 0) == 0) _exit(9);  // must be refused
  if (what == "undecided") record.state = call_state::running;
  if (what.starts_with("error ")) {
    record.state = call_state::failed;
    record.cuda_error = std::atoi(what.c_str() + 6);
    std::snprintf(record.message, sizeof record.message, "k at x.cu:7: made up");
  }
  if (what == "guard" || what == "modified") {
    record.state = call_state::failed;
    if (what == "guard") record.buffers[1].guard_broken = 2;
    if (what == "modified") record.buffers[0].modified = 1;
    std::snprintf(record.message, sizeof record.message, "a kernel wrote where it must not");
  }
}

// Does what the emulator does: appends to the file `to` the text of the file `from`. Both are
// variables that hold the files' names.
void append(const char* to, const char* from) {
  const char* const target = std::getenv(to);
  const char* const source = std::getenv(from);
  if (target == nullptr || source == nullptr) return;
  std::ofstream(target, std::ios::app) << std::ifstream(source).rdbuf();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  std::string what = behaviour();
  // Meets a limit of the emulator, but only in a profiled call.
  if (what == "limit when counted")
    what = std::getenv("STEPWISE_PROFILE") != nullptr ? "error 801" : "good";
  if (what == "no device") {
    std::fputs("runner: cannot use a CUDA device: none\n", stderr);
    return 3;
  }
  const int file = open(argv[1], O_RDWR);
  struct stat status {};
  if (file < 0 || fstat(file, &status) != 0) return 2;
  const auto size = static_cast<std::size_t>(status.st_size);
  char* data = static_cast<char*>(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
  const int control = std::atoi(argv[3]);
  append("STEPWISE_FINDINGS", "FAKE_FINDINGS");
  append("STEPWISE_PROFILE", "FAKE_PROFILE");
  std::uint32_t number = 0;
  while (read(control, &number, sizeof number) == sizeof number) {
    auto& record = *reinterpret_cast<call_record*>(data + sizeof(call_file_header) +
                                                   number * sizeof(call_record));
    if (what == "late") {  // right at first, wrong from the third call on
      static int calls = 0;
      compute(data, record, ++calls > 2 ? "wrong" : "good");
    } else {
      compute(data, record, what);
    }
    write_log(record);
    misbehave(record, what, file);
    std::fflush(nullptr);
    if (what == "alien") number += 1;
    if (write(control, &number, sizeof number) != sizeof number) return 1;
  }
  return 0;
}
