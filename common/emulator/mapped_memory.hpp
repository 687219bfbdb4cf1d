// Memory that is mapped separately from its addresses: the book-keeping over global_memory.
//
// idea    All pieces are parts of one file in memory, so that a piece may be mapped at several
//         addresses. To kernels and checks, a mapping is an allocation while it may be accessed.
// watch   The checks know bytes by their addresses. If a piece is mapped a second time, all of it
//         counts as written.
//         Tested by machine/tests/mapped_memory_test.cpp and common/runtime/conformance/driver.
#pragma once

#include <functional>
#include <map>

#include "common/device/virtual_memory.hpp"
#include "common/emulator/check/checker.hpp"
#include "common/emulator/machine/memory.hpp"

namespace stepwise::emulator {

class mapped_memory final : public virtual_memory {
 public:
  // `change_while_idle` runs changes of allocations while no kernel runs.
  using change = std::function<status()>;
  mapped_memory(global_memory& memory, std::function<status(const change&)> change_while_idle);
  ~mapped_memory() override;

  void set_checker(checker& check) { check_ = &check; }

  std::uint64_t granularity() const override { return std::uint64_t{2} << 20; }
  result<std::uint64_t> reserve(std::uint64_t bytes, std::uint64_t alignment,
                                std::uint64_t wanted) override;
  status unreserve(std::uint64_t address, std::uint64_t bytes) override;
  result<memory_piece> create(std::uint64_t bytes) override;
  status release(memory_piece piece) override;
  bool has(memory_piece piece) const override;
  result<memory_piece> retain(std::uint64_t address) override;
  status map(std::uint64_t address, std::uint64_t bytes, memory_piece piece) override;
  status unmap(std::uint64_t address, std::uint64_t bytes) override;
  status set_access(std::uint64_t address, std::uint64_t bytes, memory_access access) override;
  result<memory_access> access_at(std::uint64_t address) const override;

 private:
  struct piece_record {
    std::uint64_t bytes = 0, offset = 0;  // in the file
    unsigned references = 1, mappings = 0;
    bool was_exposed = false;  // to kernels, so it may have been written
  };
  struct mapping {
    std::uint64_t bytes = 0;
    memory_piece piece{};
    memory_access access = memory_access::none;
  };
  using mapping_map = std::map<std::uint64_t, mapping>;

  bool is_multiple(std::uint64_t a, std::uint64_t b = 0) const {
    return a % granularity() == 0 && b % granularity() == 0;
  }
  // The mapping around an address, or the end.
  mapping_map::const_iterator around(std::uint64_t address) const;
  // Whether nothing is mapped there.
  bool is_free(std::uint64_t address, std::uint64_t bytes) const;
  // Calls `what` for the mappings that exactly fill a range. Returns invalid_value if the mappings
  // do not fill it.
  status for_each(std::uint64_t address, std::uint64_t bytes,
                  const std::function<status(mapping_map::iterator)>& what);
  void let_go(std::map<memory_piece, piece_record>::iterator piece);
  void hide(std::uint64_t address, mapping& m);
  // Marks a piece as written for the checks, at all of its accessible addresses.
  void all_written(memory_piece piece);

  global_memory& memory_;
  checker* check_ = nullptr;  // null: nothing is checked
  const std::function<status(const change&)> change_while_idle_;
  int file_ = -1;  // created with the first piece
  free_ranges room_;
  std::uint64_t last_piece_ = 0;
  std::map<std::uint64_t, std::uint64_t> ranges_;  // reserved: address -> bytes
  std::map<memory_piece, piece_record> pieces_;
  mapping_map mappings_;  // by address
};

}  // namespace stepwise::emulator
