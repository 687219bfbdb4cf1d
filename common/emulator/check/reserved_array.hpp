// An array that covers all of a GPU's memory, and of which few elements are ever touched.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>

namespace stepwise::emulator {

enum class pages { usual, huge };  // huge ones are faster if most of an area is touched

// All elements are zero at first. Only address space is reserved. A page costs memory and time when
// it is first touched.
template <class T>
class reserved_array {
  static_assert(std::is_trivially_destructible_v<T>);

 public:
  // Throws std::bad_alloc if the address space cannot be reserved.
  explicit reserved_array(std::uint64_t count, pages of = pages::usual)
      : bytes_(count * sizeof(T)) {
    void* const at = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) throw std::bad_alloc();
    elements_ = static_cast<T*>(at);
    if (of == pages::huge) madvise(at, bytes_, MADV_HUGEPAGE);  // only a hint
  }
  ~reserved_array() { munmap(elements_, bytes_); }
  reserved_array(const reserved_array&) = delete;
  reserved_array& operator=(const reserved_array&) = delete;

  T* data() const { return elements_; }
  T& operator[](std::size_t number) const { return elements_[number]; }
  // Resets all elements to zero.
  void forget() { madvise(elements_, bytes_, MADV_DONTNEED); }

 private:
  std::uint64_t bytes_;
  T* elements_;
};

}  // namespace stepwise::emulator
