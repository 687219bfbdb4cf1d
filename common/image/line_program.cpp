// Reads each unit's header, and runs its opcodes on a state machine that emits address spans.
#include "common/image/line_program.hpp"

#include <array>

namespace stepwise::image {
namespace {

enum standard_opcode : std::uint8_t {
  extended = 0,
  copy = 1,
  advance_pc = 2,
  advance_line = 3,
  set_file = 4,
  set_column = 5,
  negate_stmt = 6,
  set_basic_block = 7,
  const_add_pc = 8,
  fixed_advance_pc = 9,
};

enum extended_opcode : std::uint8_t { end_sequence = 1, set_address = 2 };

class unit {
 public:
  // `first` is the offset of the unit in its section.
  unit(bytes content, std::uint64_t first, const std::function<void(const line_span&)>& visit)
      : content_(content), first_(first), visit_(visit) {}

  void run() {
    const auto version = number<std::uint16_t>();
    if (version != 2) {
      throw corrupt("a line table of DWARF version " + std::to_string(version) + ", expected 2");
    }
    const auto header_bytes = number<std::uint32_t>();
    const std::uint64_t program = at_ + header_bytes;
    if (program > content_.size()) throw corrupt("a line table's header that extends past its end");
    minimum_instruction_ = number<std::uint8_t>();
    number<std::uint8_t>();  // default_is_stmt
    line_base_ = number<std::int8_t>();
    line_range_ = number<std::uint8_t>();
    opcode_base_ = number<std::uint8_t>();
    if (line_range_ == 0 || opcode_base_ == 0) throw corrupt("a line table without opcodes");
    for (unsigned op = 1; op < opcode_base_; ++op) operands_[op] = number<std::uint8_t>();
    at_ = program;  // the tables of directories and files are not needed
    while (at_ < content_.size()) step();
  }

 private:
  template <class T>
  T number() {
    const T value = read_at<T>(content_, at_, "a line table's field");
    at_ += sizeof(T);
    return value;
  }

  std::uint64_t unsigned_leb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = number<std::uint8_t>();
      if (shift < 64) value |= std::uint64_t{byte & 0x7Fu} << shift;
      if (!(byte & 0x80)) return value;
    }
  }

  std::int64_t signed_leb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const auto byte = number<std::uint8_t>();
      if (shift < 64) value |= std::uint64_t{byte & 0x7Fu} << shift;
      if (byte & 0x80) continue;
      if ((byte & 0x40) && shift + 7 < 64) value |= ~std::uint64_t{0} << (shift + 7);
      return static_cast<std::int64_t>(value);
    }
  }

  void step() {
    const auto op = number<std::uint8_t>();
    if (op >= opcode_base_) {
      const unsigned adjusted = op - opcode_base_;
      address_ += std::uint64_t{adjusted / line_range_} * minimum_instruction_;
      line_ += static_cast<std::uint32_t>(line_base_ + static_cast<int>(adjusted % line_range_));
      return row(false);
    }
    switch (op) {
      case extended:
        return step_extended();
      case copy:
        return row(false);
      case advance_pc:
        address_ += unsigned_leb() * minimum_instruction_;
        return;
      case advance_line:
        line_ += static_cast<std::uint32_t>(signed_leb());
        return;
      case const_add_pc:
        address_ += std::uint64_t{(255u - opcode_base_) / line_range_} * minimum_instruction_;
        return;
      case fixed_advance_pc:
        address_ += number<std::uint16_t>();
        return;
      default:  // set_file, set_column and opcodes of later versions are not needed
        for (unsigned i = 0; i < operands_[op]; ++i) unsigned_leb();
    }
  }

  void step_extended() {
    const std::uint64_t length = unsigned_leb();
    if (length == 0) return;
    if (length > content_.size() - at_)
      throw corrupt("a line table's operation that extends past its end");
    const std::uint64_t next = at_ + length;
    const auto op = number<std::uint8_t>();
    if (op == end_sequence) {
      row(true);
      address_ = 0;
      line_ = 1;
      set_address_at_ = 0;
      open_ = false;
    } else if (op == set_address) {
      set_address_at_ = first_ + at_;
      address_ = number<std::uint64_t>();
    }
    at_ = next;
  }

  void row(bool ends) {
    if (open_ && address_ > row_address_) {
      visit_({set_address_at_, row_address_, address_, row_line_, ends});
    }
    open_ = true;
    row_address_ = address_;
    row_line_ = line_;
  }

  bytes content_;
  std::uint64_t first_;
  const std::function<void(const line_span&)>& visit_;
  std::uint64_t at_ = 0;
  std::uint64_t minimum_instruction_ = 1;
  int line_base_ = 0;
  unsigned line_range_ = 1;
  unsigned opcode_base_ = 1;
  std::array<std::uint8_t, 256> operands_{};

  // The registers of DWARF's state machine, and the row that is not finished yet.
  std::uint64_t address_ = 0;
  std::uint32_t line_ = 1;
  std::uint64_t set_address_at_ = 0;
  bool open_ = false;
  std::uint64_t row_address_ = 0;
  std::uint32_t row_line_ = 0;
};

}  // namespace

void run_line_programs(bytes section, const std::function<void(const line_span&)>& visit) {
  for (std::uint64_t at = 0; at < section.size();) {
    const auto length = read_at<std::uint32_t>(section, at, "a line table's length");
    at += sizeof length;
    const bytes content = part_of(section, at, length, "a line table");
    unit(content, at, visit).run();
    at += length;
  }
}

}  // namespace stepwise::image
