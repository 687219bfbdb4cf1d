// Names the place in an allocation, or the kernel's own memory, which the host cannot reach.
#include "common/emulator/check/host_access.hpp"

#include <cstdio>

#include "common/emulator/machine/context.hpp"
#include "common/emulator/machine/link.hpp"
#include "common/report/finding_text.hpp"

namespace stepwise::emulator {
namespace {

std::string bytes_words(std::uint64_t n) { return grouped(n) + (n == 1 ? " byte" : " bytes"); }

std::string object_words(const finding_object& o) {
  const std::string size = bytes_words(o.bytes);
  const char* const kind = o.what == finding_object::kind::variable ? "a variable of "
                           : o.what == finding_object::kind::constant
                               ? "a __constant__ variable of "
                               : "an allocation of ";
  return (o.name.empty() ? "" : o.name + ", ") + kind + size;
}

std::string place_words(const finding_object& o) {
  if (const std::string distance = distance_words(o); !distance.empty())
    return distance + " of " + object_words(o);
  return "byte " + grouped(static_cast<std::uint64_t>(o.offset)) + " of " + object_words(o);
}

const char* own_memory_words(device_address at) {
  if (at >= code_window) return "the address of a function on the device";
  if (at >= parameter_window) return "an address among a kernel's parameters";
  return at >= local_window ? "an address in a thread's local memory"
                            : "an address in a block's shared memory";
}

}  // namespace

bool is_kernels_own(device_address at) {
  return at >= shared_window && at < code_window + window_bytes;
}

finding host_access(const finding_object& object, bool freed, device_address at, bool writes) {
  finding f;
  f.kind = finding_kind::wrong_pointer;
  f.message = std::string("the host ") + (writes ? "writes " : "reads ");
  char address[20];
  std::snprintf(address, sizeof address, "0x%llx", static_cast<unsigned long long>(at));
  if (is_kernels_own(at)) {
    f.message += std::string(address) + ", " + own_memory_words(at);
    f.advice = "Only kernels can use such an address.";
    return f;
  }
  f.object = object;
  if (freed) f.kind = finding_kind::use_after_free;
  if (object.what == finding_object::kind::none) {
    f.message += std::string("device memory: ") + address + ", which no allocation holds";
  } else {
    f.message +=
        std::string(freed ? "memory that was freed: " : "device memory: ") + place_words(object);
  }
  // free() and delete read a header right before the memory.
  const bool may_free = object.offset < 0 && object.offset >= -16 && !writes;
  f.advice = freed      ? "Free it after its last use."
             : may_free ? "Device memory is freed by cudaFree, not by free() or delete."
             : writes   ? "Write to host memory, and copy it with cudaMemcpy."
                        : "Copy it to the host with cudaMemcpy first.";
  return f;
}

}  // namespace stepwise::emulator
