// Maps the file, and checks that a record's areas are within it and match the contract.
#include "common/runner/mapped_call_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace stepwise::runner {
namespace {

constexpr std::uint32_t most_calls = 1u << 16;
constexpr std::uint32_t most_repetitions = 1u << 20;

std::string reason() { return std::strerror(errno); }

std::span<std::byte> map_file(const std::string& path) {
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) throw file_error("cannot open " + path + ": " + reason());
  struct stat information {};
  if (fstat(file, &information) != 0 || !S_ISREG(information.st_mode)) {
    close(file);
    throw file_error(path + " is not a regular file");
  }
  const auto size = static_cast<std::size_t>(information.st_size);
  if (size < sizeof(call_file_header)) {
    close(file);
    throw file_error(path + " is too short for a call file");
  }
  void* const start = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  const std::string why = start == MAP_FAILED ? reason() : "";
  close(file);
  if (start == MAP_FAILED) throw file_error("cannot map " + path + ": " + why);
  return {static_cast<std::byte*>(start), size};
}

}  // namespace

mapped_call_file::mapped_call_file(const std::string& path) : bytes_(map_file(path)) {
  const call_file_header& head = header();
  std::string wrong;
  if (std::memcmp(head.magic, call_file_magic, sizeof call_file_magic) != 0) {
    wrong = "is not a call file";
  } else if (head.version != call_file_version) {
    wrong = "has version " + std::to_string(head.version) + ", this runner reads version " +
            std::to_string(call_file_version);
  } else if (head.file_bytes != bytes_.size()) {
    wrong = "is damaged: it has " + std::to_string(bytes_.size()) + " bytes and says " +
            std::to_string(head.file_bytes);
  } else if (head.call_count > most_calls ||
             sizeof head + head.call_count * sizeof(call_record) > bytes_.size()) {
    wrong = "is damaged: it has no room for " + std::to_string(head.call_count) + " calls";
  }
  call_count_ = head.call_count;
  if (wrong.empty()) return;
  unmap();
  throw file_error(path + " " + wrong);
}

mapped_call_file::~mapped_call_file() { unmap(); }

void mapped_call_file::unmap() { munmap(bytes_.data(), bytes_.size()); }

call_record& mapped_call_file::record(std::uint32_t number) {
  return reinterpret_cast<call_record*>(bytes_.data() + sizeof(call_file_header))[number];
}

void mapped_call_file::require_area(std::uint64_t offset, std::uint64_t bytes,
                                    std::uint64_t alignment, const std::string& what) const {
  const std::uint64_t first = sizeof(call_file_header) + call_count_ * sizeof(call_record);
  if (offset % alignment != 0) throw file_error(what + " is not aligned");
  if (offset < first || offset > bytes_.size() || bytes > bytes_.size() - offset) {
    throw file_error(what + " is outside the file's data");
  }
}

call_record mapped_call_file::checked_record(std::uint32_t number, const contract& function) {
  if (number >= call_count_) {
    throw file_error("there is no call " + std::to_string(number) + ": the file has " +
                     std::to_string(call_count_));
  }
  const call_record copy = record(number);
  const std::string call = "call " + std::to_string(number) + ": ";
  if (copy.buffer_count != function.pointers || copy.scalar_count != function.integers ||
      copy.buffer_count > max_buffers || copy.scalar_count > max_scalars) {
    throw file_error(call + function.name + " takes " + std::to_string(function.pointers) +
                     " buffers and " + std::to_string(function.integers) +
                     " numbers, the file has " + std::to_string(copy.buffer_count) + " and " +
                     std::to_string(copy.scalar_count));
  }
  if (copy.plan.repetitions == 0 || copy.plan.repetitions > most_repetitions ||
      copy.plan.warmups > most_repetitions) {
    throw file_error(call + "an impossible number of repetitions");
  }
  if (copy.memory > memory_kind::files) throw file_error(call + "no such kind of memory");
  if (copy.plan.buffers > buffers_are::reused) {
    throw file_error(call + "an unknown lifetime of the buffers");
  }
  require_area(copy.times_offset, copy.plan.repetitions * sizeof(float), alignof(float),
               call + "times");
  for (std::uint32_t i = 0; i < copy.buffer_count; ++i) {
    const buffer_record& buffer = copy.buffers[i];
    const std::string name = call + "buffer " + std::to_string(i);
    switch (buffer.role) {
      case buffer_role::input:
      case buffer_role::output:
        require_area(buffer.offset, buffer.bytes, 64, name);
        break;
      case buffer_role::scratch:
        // Limit the size, so adding the guard zones cannot overflow.
        if (buffer.bytes > std::uint64_t{1} << 48) throw file_error(name + " is too large");
        break;
      default:
        throw file_error(name + " has no known role");
    }
  }
  return copy;
}

}  // namespace stepwise::runner
