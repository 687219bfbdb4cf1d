// Any bytes as a fat binary and as a cubin: an error or a result, nothing else.
#include "common/emulator/image/image.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace stepwise::image;
  const std::span<const std::byte> all(reinterpret_cast<const std::byte*>(data), size);
  const auto entries = read_container(all);
  if (entries.ok()) {
    for (const fat_entry& entry : *entries) {
      const auto content = content_of(entry);
      if (content.ok()) read_cubin(*content);
    }
    choose(*entries, entry_kind::ptx, 90);
  }
  read_cubin(all);
  return 0;
}
