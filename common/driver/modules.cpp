// Determines the type of an image, splits linked images, and loads modules.
#include "common/driver/modules.hpp"

#include <algorithm>
#include <cstring>

#include "common/runtime/mapped.hpp"

namespace stepwise::driver {
namespace {

using runtime::state;

// The start of a linked image. The number of parts follows, and then the size and bytes of each.
constexpr char linked_magic[16] = "stepwise linked";

bool begins_with(const void* image, std::string_view text, std::uint64_t mapped) {
  return mapped >= text.size() && std::memcmp(image, text.data(), text.size()) == 0;
}

class image_reader {
 public:
  image_reader(const std::byte* at, std::uint64_t left) : at_(at), left_(left) {}
  std::optional<std::uint64_t> number() {
    std::uint64_t value = 0;
    if (left_ < sizeof value) return std::nullopt;
    std::memcpy(&value, at_, sizeof value);
    skip(sizeof value);
    return value;
  }
  std::optional<std::span<const std::byte>> bytes(std::uint64_t count) {
    if (left_ < count) return std::nullopt;
    const std::span<const std::byte> found(at_, count);
    skip(count);
    return found;
  }

 private:
  void skip(std::uint64_t count) {
    at_ += count;
    left_ -= count;
  }
  const std::byte* at_;
  std::uint64_t left_;
};

result<std::vector<std::span<const std::byte>>> linked_parts(const std::byte* first,
                                                             std::uint64_t mapped) {
  const status damaged{error::invalid_kernel_image, "the output of cuLinkComplete is damaged"};
  image_reader reader(first + sizeof linked_magic, mapped - sizeof linked_magic);
  std::vector<std::span<const std::byte>> parts;
  const auto count = reader.number();
  if (!count) return damaged;
  for (std::uint64_t i = 0; i < *count; i++) {
    const auto bytes = reader.number();
    const auto part = bytes ? reader.bytes(*bytes) : std::nullopt;
    if (!part) return damaged;
    parts.push_back(*part);
  }
  return parts;
}

void append(std::vector<std::byte>& to, std::span<const std::byte> bytes) {
  to.insert(to.end(), bytes.begin(), bytes.end());
}

void append_number(std::vector<std::byte>& to, std::uint64_t number) {
  append(to, std::as_bytes(std::span(&number, 1)));
}

}  // namespace

jit_options::jit_options(unsigned count, const CUjit_option* options, void** values)
    : incomplete_(count > 0 && (!options || !values)) {
  if (incomplete_) return;
  for (unsigned i = 0; i < count; i++) {
    options_[runtime::number_of(options[i])] = {&values[i],
                                                reinterpret_cast<std::uintptr_t>(values[i])};
  }
}

status jit_options::check() const {
  return incomplete_ ? runtime::invalid_value("options without values") : status{};
}

void jit_options::fill(int buffer, int size, const std::string& text) const {
  const auto to = options_.find(buffer), room = options_.find(size);
  if (to == options_.end() || room == options_.end()) return;
  auto* const first = reinterpret_cast<char*>(to->second.asked);
  // The size is a number stored in place of a pointer.
  const auto bytes = static_cast<std::uint32_t>(room->second.asked);
  std::size_t copied = 0;
  if (first && bytes > 0) {
    copied = std::min<std::size_t>(text.size(), bytes - 1);
    std::memcpy(first, text.data(), copied);
    first[copied] = '\0';
  }
  *room->second.place = reinterpret_cast<void*>(copied);
}

void jit_options::report(const std::string& error) const {
  fill(CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, error);
  fill(CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, "");
  if (const auto time = options_.find(CU_JIT_WALL_TIME); time != options_.end()) {
    const float none = 0;
    std::memcpy(time->second.place, &none, sizeof none);
  }
}

result<std::vector<std::span<const std::byte>>> image_parts(const void* image) {
  const std::uint64_t mapped = runtime::mapped_bytes(image);
  if (begins_with(image, {linked_magic, sizeof linked_magic}, mapped)) {
    return linked_parts(static_cast<const std::byte*>(image), mapped);
  }
  if (begins_with(image, "\177ELF", mapped)) {
    return {error::no_kernel_image_for_device,
            "the module is machine code for a GPU (a cubin), which cannot run on the emulator: "
            "load PTX, or a fat binary with PTX"};
  }
  return runtime::module_parts(image);
}

std::vector<std::byte> linked_image(std::span<const std::vector<std::byte>> parts) {
  std::vector<std::byte> image;
  append(image, std::as_bytes(std::span(linked_magic)));
  append_number(image, parts.size());
  for (const auto& part : parts) {
    append_number(image, part.size());
    append(image, part);
  }
  return image;
}

cudaError_t load_parts(CUmodule* module, const result<std::vector<std::span<const std::byte>>>& of,
                       const jit_options& options) {
  return runtime::call([&](state& s) {
    status sound = options.check();
    if (!sound.ok()) return sound;
    const auto loaded = of.ok() ? s.current->load_linked(*of) : result<module_handle>(of.failure());
    options.report(loaded.ok() ? "" : loaded.failure().message);
    if (!loaded.ok()) {
      runtime::announce(loaded.failure().message);
      return loaded.failure();
    }
    *module = reinterpret_cast<CUmodule>(s.registered.add_library(loaded));
    return status{};
  });
}

}  // namespace stepwise::driver
