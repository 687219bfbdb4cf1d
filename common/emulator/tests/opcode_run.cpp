// Runs opcode tests on a device and compares the results.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "common/emulator/tests/opcode_case.hpp"

namespace stepwise::opcodes {
namespace {

std::vector<std::byte> bytes_of(const parameter& p) {
  std::vector<std::byte> bytes(p.count() * p.type.bytes, poison);
  for (std::size_t i = 0; i < p.initial.size(); ++i) {
    std::memcpy(&bytes[i * p.type.bytes], &p.initial[i].bits, p.type.bytes);
  }
  return bytes;
}

double number_of(const element_type& type, std::uint64_t bits) {
  if (type.bytes == 8) {
    double number;
    std::memcpy(&number, &bits, 8);
    return number;
  }
  const auto low = static_cast<std::uint32_t>(bits);
  float number;
  std::memcpy(&number, &low, 4);
  return number;
}

// The distance from `number` to the next value of its type away from zero.
double ulp_of(const element_type& type, double number) {
  if (type.bytes == 8) {
    const double size = std::fabs(number);
    return std::nextafter(size, std::numeric_limits<double>::infinity()) - size;
  }
  const float size = std::fabs(static_cast<float>(number));
  return static_cast<double>(std::nextafter(size, std::numeric_limits<float>::infinity())) - size;
}

bool agrees(const parameter& p, const value& expected, std::uint64_t bits) {
  if (expected.how == match::anything) return true;
  if (expected.how == match::nan) return std::isnan(number_of(p.type, bits));
  if (expected.bits == bits) return true;
  if (p.ulps == 0 && p.absolute == 0) return false;
  const double wanted = number_of(p.type, expected.bits);
  const double found = number_of(p.type, bits);
  if (!std::isfinite(wanted) || !std::isfinite(found)) return false;
  return std::fabs(found - wanted) <= std::max(p.ulps * ulp_of(p.type, wanted), p.absolute);
}

void compare(const test_file& file, const test_case& what, const parameter& p,
             const std::vector<std::byte>& found, std::vector<std::string>& differences) {
  for (std::size_t i = 0; i < p.expected.size(); ++i) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &found[i * p.type.bytes], p.type.bytes);
    if (agrees(p, p.expected[i], bits)) continue;
    std::string wanted =
        p.expected[i].how == match::nan ? "nan" : text_of(p.type, p.expected[i].bits);
    std::string inputs;
    for (const parameter& other : what.parameters) {
      if (i < other.initial.size()) {
        inputs += (inputs.empty() ? "" : ", ") + other.name + " = " +
                  text_of(other.type, other.initial[i].bits);
      }
    }
    differences.push_back(file.name + ".ptx:" + std::to_string(p.line) + ": " + what.kernel + ": " +
                          p.name + "[" + std::to_string(i) + "] = " + text_of(p.type, bits) +
                          ", expected " + wanted + (inputs.empty() ? "" : " for " + inputs));
  }
}

// The buffers of one launch. The destructor frees them.
class buffers {
 public:
  explicit buffers(device& on) : on_(on) {}
  ~buffers() {
    for (device_address address : addresses_) on_.free(address);
  }
  buffers(const buffers&) = delete;
  buffers& operator=(const buffers&) = delete;

  device_address make(const std::vector<std::byte>& bytes) {
    result<device_address> address = on_.allocate(bytes.size());
    if (!address.ok()) return 0;
    addresses_.push_back(*address);
    return on_.write(*address, bytes).ok() ? *address : 0;
  }

 private:
  device& on_;
  std::vector<device_address> addresses_;
};

void append_parameter(std::vector<std::byte>& packed, const std::byte* bytes, std::size_t count,
                      unsigned alignment) {
  while (packed.size() % alignment != 0) packed.push_back(std::byte{0});
  packed.insert(packed.end(), bytes, bytes + count);
}

}  // namespace

std::vector<std::string> run_case(device& on, bool emulated, module_handle module,
                                  const test_file& file, const test_case& what) {
  const std::string where = file.name + ".ptx:" + std::to_string(what.line) + ": " + what.kernel;
  auto failed = [&where](const char* doing, const status& s) {
    return std::vector<std::string>{where + ": " + doing + ": error " +
                                    std::to_string(static_cast<int>(s.code)) + " " + s.message};
  };
  result<kernel_handle> kernel = on.find_kernel(module, what.kernel);
  if (!kernel.ok()) return failed("finding the kernel", kernel.failure());

  buffers memory(on);
  std::vector<std::byte> packed;
  std::vector<device_address> addresses;
  for (const parameter& p : what.parameters) {
    if (p.role == array_role::plain) {
      append_parameter(packed, p.plain_bytes.data(), p.plain_bytes.size(), p.alignment);
      addresses.push_back(0);
      continue;
    }
    device_address address = memory.make(bytes_of(p));
    if (address == 0) return {where + ": no memory for " + p.name};
    addresses.push_back(address);
    append_parameter(packed, reinterpret_cast<const std::byte*>(&address), 8, 8);
  }

  launch_config config;
  config.grid = what.blocks;
  config.block = what.threads;
  config.dynamic_shared_bytes = what.shared_bytes;
  config.cooperative = what.cooperative;
  status launched = on.launch(*kernel, config, packed);
  if (launched.ok()) launched = on.synchronize();
  const bool refused = emulated && what.not_yet_emulated;
  if (refused && launched.ok()) {
    return {where + ": the emulator now runs this: remove 'emulated: not yet'"};
  }
  if (launched.code != (refused ? error::not_supported : what.fails)) {
    if (launched.ok()) return {where + ": the launch succeeded, but must fail"};
    return failed("launching", launched);
  }
  std::vector<std::string> differences;
  if (!launched.ok()) return differences;

  for (std::size_t i = 0; i < what.parameters.size(); ++i) {
    const parameter& p = what.parameters[i];
    if (p.expected.empty()) continue;
    std::vector<std::byte> found(p.expected.size() * p.type.bytes);
    status s = on.read(found, addresses[i]);
    if (!s.ok()) return failed("reading the results", s);
    compare(file, what, p, found, differences);
  }
  return differences;
}

}  // namespace stepwise::opcodes
