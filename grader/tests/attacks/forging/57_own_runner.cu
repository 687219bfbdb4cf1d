// attack reduction: PROTOCOL or COMPILE or WRONG, at most 0 points
// replaces the runner: its main() answers every call, and adds on the host
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "common/lab/call_file.hpp"
#include "labs/reduction/reduction.hpp"

void reduce(const int*, int*, int*, int) {}

int main() {
  using namespace stepwise::runner;
  struct stat about {};
  if (fstat(3, &about) != 0) return 1;
  auto* const file = static_cast<std::byte*>(mmap(nullptr, static_cast<std::size_t>(about.st_size),
                                                  PROT_READ | PROT_WRITE, MAP_SHARED, 3, 0));
  if (file == MAP_FAILED) return 1;
  auto* const calls = reinterpret_cast<call_record*>(file + sizeof(call_file_header));
  for (std::uint32_t number; read(4, &number, sizeof number) == sizeof number;) {
    call_record& call = calls[number];
    unsigned sum = 0, value = 0;
    for (std::uint32_t b = 0; b < call.buffer_count; ++b) {
      const buffer_record& buffer = call.buffers[b];
      for (std::uint64_t i = 0; buffer.role == buffer_role::input && i < buffer.bytes; i += 4) {
        std::memcpy(&value, file + buffer.offset + i, sizeof value);
        sum += value;
      }
      if (buffer.role == buffer_role::output) std::memcpy(file + buffer.offset, &sum, sizeof sum);
    }
    call.state = call_state::done;
    if (write(4, &number, sizeof number) < 0) return 1;
  }
}
