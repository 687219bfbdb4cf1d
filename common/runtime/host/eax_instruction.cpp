// Reads prefixes, opcode, addressing mode and immediates, and determines which operands are
// registers.
#include "common/runtime/host/eax_instruction.hpp"

#include <cstring>

namespace stepwise::runtime {
namespace {

using flow = eax_instruction::flow;

class decoder {
 public:
  explicit decoder(std::span<const std::uint8_t> code) : code_(code) {}

  eax_instruction decode() {
    read_prefixes();
    const std::uint8_t opcode = byte();
    if (opcode == 0x0F) {
      two_byte_opcode(byte());
    } else {
      one_byte_opcode(opcode);
    }
    if (is_known_ && at_ <= code_.size()) found_.length = at_;
    return found_;
  }

 private:
  enum access { none = 0, read = 1, write = 2, both = 3 };

  std::uint8_t byte() {
    if (at_ >= code_.size()) {
      is_known_ = false;
      return 0;
    }
    return code_[at_++];
  }

  template <class Number>
  Number number() {
    Number value{};
    if (code_.size() - at_ < sizeof value) {
      is_known_ = false;
      return value;
    }
    std::memcpy(&value, &code_[at_], sizeof value);
    at_ += sizeof value;
    return value;
  }

  void skip(std::size_t bytes) {
    if (code_.size() - at_ < bytes) {
      is_known_ = false;
    } else {
      at_ += bytes;
    }
  }

  void read_prefixes() {
    for (;;) {
      const std::uint8_t next = byte();
      switch (next) {
        case 0x66:
          is_16_bit_ = true;
          continue;
        case 0xF2:
        case 0xF3:
          repeat_ = next;
          continue;
        case 0x26:
        case 0x2E:
        case 0x36:
        case 0x3E:
        case 0x64:
        case 0x65:
        case 0xF0:
          continue;
        default:
          if ((next & 0xF0) == 0x40) {
            rex_ = next;  // the last prefix
          } else if (is_known_) {
            at_--;
          }
          return;
      }
    }
  }

  bool is_wide() const { return (rex_ & 8) != 0; }
  // The operand size: 1 byte, or 2, 4 or 8 bytes depending on the prefixes.
  std::size_t operand_bytes(bool one) const { return one ? 1 : is_wide() ? 8 : is_16_bit_ ? 2 : 4; }

  eax_bytes in_eax(unsigned number, std::size_t bytes) const {
    if (bytes == 1 && number == 4 && rex_ == 0) return 2;  // AH
    if (number != 0) return 0;
    return bytes == 1 ? 1 : bytes == 2 ? 3 : all_of_eax;
  }

  void use(eax_bytes bytes, access how) {
    if (how & read) found_.reads |= bytes;
    if (how & write) found_.writes |= bytes;
  }
  void use_register(unsigned number, std::size_t bytes, access how) {
    use(in_eax(number, bytes), how);
  }

  // Reads the ModRM byte, and the memory address that it may encode.
  void read_operands() {
    const std::uint8_t modrm = byte();
    const unsigned mode = modrm >> 6;
    reg_ = (modrm >> 3 & 7) | (rex_ & 4) << 1;
    rm_ = (modrm & 7) | (rex_ & 1) << 3;
    is_register_ = mode == 3;
    if (is_register_) return;
    unsigned base = rm_;
    bool has_base = true;
    if ((modrm & 7) == 4) {
      const std::uint8_t sib = byte();
      const unsigned index = (sib >> 3 & 7) | (rex_ & 2) << 2;
      if (index == 0) address_reads_ = all_of_eax;
      base = (sib & 7) | (rex_ & 1) << 3;
      if ((sib & 7) == 5 && mode == 0) {
        has_base = false;
        skip(4);
      }
    } else if ((modrm & 7) == 5 && mode == 0) {
      has_base = false;
      is_relative_ = true;
      skip(4);
    }
    if (has_base && base == 0) address_reads_ = all_of_eax;
    skip(mode == 1 ? 1 : mode == 2 ? 4 : 0);
  }

  // Notes what an instruction with a ModRM byte does to its operands in general-purpose registers.
  void operands(std::size_t rm_bytes, access rm, std::size_t reg_bytes, access reg) {
    read_operands();
    finish_operands(rm_bytes, rm, reg_bytes, reg);
  }
  void finish_operands(std::size_t rm_bytes, access rm, std::size_t reg_bytes, access reg) {
    found_.reads |= address_reads_;
    if (is_register_) use_register(rm_, rm_bytes, rm);
    use_register(reg_, reg_bytes, reg);
  }
  void operands(std::size_t bytes, access rm, access reg) { operands(bytes, rm, bytes, reg); }
  // The operands are floating-point or vector registers, but an address uses general registers.
  void vector_operands() { operands(4, none, none); }

  // Skips an immediate that is as wide as the operand, but at most 4 bytes.
  void skip_immediate(std::size_t operand) { skip(operand == 8 ? 4 : operand); }

  void go(flow then, std::int64_t target) {
    found_.then = then;
    found_.target = target;
  }

  void arithmetic(std::uint8_t opcode) {
    const unsigned operation = opcode >> 3, form = opcode & 7;
    const std::size_t bytes = operand_bytes((form & 1) == 0);
    const access result = operation == 7 ? read : both;  // CMP only reads
    if (form >= 6) {
      is_known_ = false;
    } else if (form >= 4) {
      skip_immediate(bytes);
      use_register(0, bytes, result);
    } else {
      read_operands();
      const bool is_zeroing =
          is_register_ && reg_ == rm_ && (operation == 6 || operation == 5);  // XOR, SUB
      if (is_zeroing) return use_register(rm_, bytes, write);
      const bool to_rm = form < 2;
      finish_operands(bytes, to_rm ? result : read, bytes, to_rm ? read : result);
    }
  }

  void one_byte_opcode(std::uint8_t opcode) {
    const std::size_t bytes = operand_bytes((opcode & 1) == 0);
    const unsigned low = (opcode & 7) | (rex_ & 1) << 3;
    if (opcode < 0x40) return arithmetic(opcode);
    if (opcode >= 0x50 && opcode < 0x58) {
      found_.is_push = true;
      return use_register(low, 8, read);
    }
    if (opcode >= 0x58 && opcode < 0x60) return use_register(low, 8, write);
    if (opcode >= 0x70 && opcode < 0x80) return go(flow::branch, number<std::int8_t>());
    if (opcode > 0x90 && opcode < 0x98) {  // XCHG with EAX
      use_register(0, operand_bytes(false), both);
      return;
    }
    if (opcode >= 0xB0 && opcode < 0xB8) {
      use_register(low, 1, write);
      return skip(1);
    }
    if (opcode >= 0xB8 && opcode < 0xC0) {
      use_register(low, operand_bytes(false), write);
      return skip(operand_bytes(false));
    }
    if (opcode >= 0xD8 && opcode < 0xE0) {
      vector_operands();
      if (is_register_ && opcode == 0xDF && reg_ == 4 && rm_ == 0) found_.writes |= 3;  // FNSTSW AX
      return;
    }
    switch (opcode) {
      case 0x63:  // MOVSXD
        return operands(4, read, operand_bytes(false), write);
      case 0x68:
        return skip(is_16_bit_ ? 2 : 4);
      case 0x6A:
        return skip(1);
      case 0x69:
      case 0x6B:  // IMUL
        operands(operand_bytes(false), read, write);
        return opcode == 0x69 ? skip_immediate(operand_bytes(false)) : skip(1);
      case 0x80:
      case 0x81:
      case 0x83:
        read_operands();
        finish_operands(bytes, (reg_ & 7) == 7 ? read : both, 1, none);
        return opcode == 0x81 ? skip_immediate(bytes) : skip(1);
      case 0x84:
      case 0x85:  // TEST
        return operands(bytes, read, read);
      case 0x86:
      case 0x87:  // XCHG
        return operands(bytes, both, both);
      case 0x88:
      case 0x89:  // MOV
        return operands(bytes, write, read);
      case 0x8A:
      case 0x8B:
        return operands(bytes, read, write);
      case 0x8D:  // LEA
        return operands(operand_bytes(false), none, write);
      case 0x8F:  // POP
        return operands(8, write, none);
      case 0x90:  // NOP, PAUSE, or XCHG with R8
        if (rex_ & 1) use_register(0, operand_bytes(false), both);
        return;
      case 0x98:  // CDQE
      case 0x99:  // CDQ
        found_.reads |= all_of_eax;
        return;
      case 0x9B:
      case 0x9C:
      case 0x9D:
      case 0xA4:  // MOVS
      case 0xA5:
      case 0xA6:  // CMPS
      case 0xA7:
      case 0xC9:  // LEAVE
      case 0xF5:
      case 0xF8:
      case 0xF9:
      case 0xFC:
      case 0xFD:
        return;
      case 0xA8:
      case 0xA9:  // TEST
        use_register(0, bytes, read);
        return skip_immediate(bytes);
      case 0xAA:  // STOS
      case 0xAB:
      case 0xAE:  // SCAS
      case 0xAF:
        return use_register(0, bytes, read);
      case 0xC0:
      case 0xC1:  // shifts
        operands(bytes, both, none);
        return skip(1);
      case 0xD0:
      case 0xD1:
      case 0xD2:
      case 0xD3:
        return operands(bytes, both, none);
      case 0xC2:
        skip(2);
        return go(flow::ret, 0);
      case 0xC3:
        return go(flow::ret, 0);
      case 0xC6:
      case 0xC7:  // MOV
        operands(bytes, write, none);
        if ((reg_ & 7) != 0) is_known_ = false;
        return skip_immediate(bytes);
      case 0xE8:
        return go(flow::call, number<std::int32_t>());
      case 0xE9:
        return go(flow::jump, number<std::int32_t>());
      case 0xEB:
        return go(flow::jump, number<std::int8_t>());
      case 0xF4:
        return go(flow::stop, 0);
      case 0xF6:
      case 0xF7:
        return unary_group(bytes);
      case 0xFE:
      case 0xFF:
        return increment_group(opcode, bytes);
      default:
        is_known_ = false;
    }
  }

  void unary_group(std::size_t bytes) {
    read_operands();
    switch (reg_ & 7) {
      case 0:
      case 1:  // TEST
        finish_operands(bytes, read, 1, none);
        return skip_immediate(bytes);
      case 2:
      case 3:  // NOT, NEG
        return finish_operands(bytes, both, 1, none);
      default:  // MUL, DIV: they use EAX
        found_.reads |= all_of_eax;
    }
  }

  void increment_group(std::uint8_t opcode, std::size_t bytes) {
    read_operands();
    const unsigned operation = reg_ & 7;
    if (operation < 2) return finish_operands(bytes, both, 1, none);
    is_known_ = is_known_ && opcode == 0xFF;
    switch (operation) {
      case 2:
        finish_operands(8, read, 1, none);
        return go(flow::indirect_call, 0);
      case 4:
        finish_operands(8, read, 1, none);
        is_known_ = is_known_ && is_relative_;  // otherwise it may use a switch's jump table
        return go(flow::leave, 0);
      case 6:  // PUSH
        return finish_operands(8, read, 1, none);
      default:
        is_known_ = false;
    }
  }

  void two_byte_opcode(std::uint8_t opcode) {
    const std::size_t bytes = operand_bytes(false);
    const std::size_t narrow = (opcode & 1) == 0 ? 1 : bytes;
    const bool is_scalar = repeat_ != 0;
    if (opcode >= 0x18 && opcode <= 0x1F) return read_operands();  // NOP with any operands
    if (opcode >= 0x40 && opcode < 0x50) return operands(bytes, read, both);  // CMOV
    if (opcode >= 0x80 && opcode < 0x90) return go(flow::branch, number<std::int32_t>());
    if (opcode >= 0x90 && opcode < 0xA0) return operands(1, write, none);  // SETcc
    if (opcode >= 0xC8 && opcode < 0xD0)                                   // BSWAP
      return use_register((opcode & 7) | (rex_ & 1) << 3, bytes, both);
    switch (opcode) {
      case 0x0B:  // UD2
        return go(flow::stop, 0);
      case 0x0D:
        return read_operands();  // PREFETCHW
      case 0x2A:                 // CVTSI2SD
        return operands(is_wide() ? 8 : 4, is_scalar ? read : none, none);
      case 0x2C:
      case 0x2D:  // CVTTSD2SI
        return operands(4, none, is_scalar ? write : none);
      case 0x50:  // MOVMSKPS
      case 0xD7:  // PMOVMSKB
        return operands(4, none, write);
      case 0x6E:  // MOVD
        return operands(is_wide() ? 8 : 4, read, none);
      case 0x7E:
        return operands(is_wide() ? 8 : 4, repeat_ == 0xF3 ? none : write, none);
      case 0x70:
      case 0x71:
      case 0x72:
      case 0x73:
      case 0xC2:
      case 0xC6:
        vector_operands();
        return skip(1);
      case 0x77:
        return;
      case 0xC4:  // PINSRW
        operands(4, read, none);
        return skip(1);
      case 0xC5:  // PEXTRW
        operands(4, none, write);
        return skip(1);
      case 0xA3:  // BT
        return operands(bytes, read, read);
      case 0xA4:
      case 0xAC:  // SHLD
        operands(bytes, both, read);
        return skip(1);
      case 0xA5:
      case 0xAB:
      case 0xAD:
      case 0xB3:
      case 0xBB:
        return operands(bytes, both, read);
      case 0xAE:
        return vector_operands();
      case 0xAF:  // IMUL
        return operands(bytes, read, both);
      case 0xB0:
      case 0xB1:  // CMPXCHG: with EAX
        operands(narrow, both, read);
        found_.reads |= all_of_eax;
        return;
      case 0xB6:
      case 0xBE:  // MOVZX, MOVSX
        return operands(1, read, bytes, write);
      case 0xB7:
      case 0xBF:
        return operands(2, read, bytes, write);
      case 0xB8:  // POPCNT
        is_known_ = is_known_ && repeat_ == 0xF3;
        return operands(bytes, read, write);
      case 0xBA:
        operands(bytes, both, none);
        return skip(1);
      case 0xBC:
      case 0xBD:  // BSF, BSR leave the destination unchanged if the operand is 0
        return operands(bytes, read, both);
      case 0xC0:
      case 0xC1:  // XADD
        return operands(narrow, both, both);
      case 0xC3:  // MOVNTI
        return operands(bytes, none, read);
      default:
        if ((opcode >= 0x10 && opcode < 0x18) || (opcode >= 0x28 && opcode < 0x30) ||
            (opcode >= 0x51 && opcode < 0x80) || opcode >= 0xD0)
          return vector_operands();
        is_known_ = false;
    }
  }

  std::span<const std::uint8_t> code_;
  std::size_t at_ = 0;
  bool is_known_ = true;
  bool is_16_bit_ = false;
  std::uint8_t repeat_ = 0, rex_ = 0;
  unsigned reg_ = 0, rm_ = 0;
  bool is_register_ = false, is_relative_ = false;
  eax_bytes address_reads_ = 0;
  eax_instruction found_;
};

}  // namespace

eax_instruction decode_eax_instruction(std::span<const std::uint8_t> code) {
  return decoder(code).decode();
}

}  // namespace stepwise::runtime
