// Host memory that kernels may use by its host address (cudaHostRegister).
//
// idea    A kernel's access to address a goes to the byte at a constant distance from a. At that
//         distance, each registered area has a mirror. A piece is copied there when a kernel first
//         touches it, and the bytes that kernels changed are copied back when they are done. The
//         host's own memory stays in place.
// watch   If a host thread writes an area while a kernel runs, its bytes are kept, but the kernel
//         may not see them. Tested by tests/registered_test.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "common/emulator/machine/context.hpp"

namespace stepwise::emulator {

inline constexpr std::uint64_t page = 4096;  // bytes, of the host's memory

class registered_memory {
 public:
  // `mirror_of_host`: the distance from a host byte to its mirror.
  explicit registered_memory(std::int64_t mirror_of_host = 0) : mirror_of_host_(mirror_of_host) {}
  ~registered_memory();
  registered_memory(const registered_memory&) = delete;
  registered_memory& operator=(const registered_memory&) = delete;

  void set_distance(std::int64_t mirror_of_host) { mirror_of_host_ = mirror_of_host; }
  // False if it overlaps another area, or if the mirror's place is taken.
  bool add(std::uint64_t address, std::uint64_t bytes);
  // False if no area starts there. Must not be called while a kernel runs.
  bool remove(std::uint64_t address);

  // The piece of a registered area around an address, mirrored from now on. Several threads may
  // call this at once.
  std::optional<access_window> find(std::uint64_t address);
  bool empty() const { return areas_.empty(); }
  // Called after every kernel is done. Gives the host the changed bytes, and forgets the pieces.
  void write_back();

 private:
  struct area {
    std::uint64_t bytes = 0;
    // By first address: the bytes that the mirror began with.
    std::map<std::uint64_t, std::vector<std::byte>> touched;
  };
  std::byte* mirror(std::uint64_t address) const {
    return reinterpret_cast<std::byte*>(address + static_cast<std::uint64_t>(mirror_of_host_));
  }

  std::int64_t mirror_of_host_;
  std::mutex lock_;
  std::map<std::uint64_t, area> areas_;  // by first address
};

}  // namespace stepwise::emulator
