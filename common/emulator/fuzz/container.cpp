// Target: fat binaries, with the container, its entries, and their decompressed content.
#include "common/emulator/fuzz/target.hpp"
#include "common/image/image.hpp"

namespace stepwise::fuzz {

outcome try_input(std::span<const std::byte> input) {
  if (input.size() >= 16) {
    const auto stated = image::container_bytes(input.data());
    require(!stated || *stated >= 16, "a container smaller than its header");
  }
  const auto entries = image::read_container(input);
  if (!entries.ok()) return {false, entries.failure().message};
  outcome o;
  for (const image::fat_entry& e : *entries) {
    require(e.payload.data() >= input.data() &&
                e.payload.data() + e.payload.size() <= input.data() + input.size(),
            "a payload outside its container");
    const auto content = image::content_of(e);
    if (!content.ok()) o = {false, content.failure().message};
    if (content.ok() && e.uncompressed_bytes != 0)
      require(content->size() <= e.uncompressed_bytes, "more content than the entry says");
  }
  for (const std::uint32_t sm : {75u, 90u, ~0u}) {
    for (const auto kind : {image::entry_kind::ptx, image::entry_kind::elf}) {
      const image::fat_entry* const chosen = image::choose(*entries, kind, sm);
      require(chosen == nullptr || (chosen->kind == kind && chosen->arch <= sm),
              "an entry was chosen that this GPU cannot use");
    }
  }
  return o;
}

}  // namespace stepwise::fuzz
