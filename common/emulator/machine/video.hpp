// The form of a video instruction, as lowering packs it into op::immediate.
#pragma once

#include <cstdint>
#include <cstring>

namespace stepwise::emulator {

enum class video_operation : std::uint8_t { add, sub, absdiff, min, max, shl, shr, set };
enum class video_relation : std::uint8_t { eq, ne, lt, le, gt, ge };
enum class video_second : std::uint8_t { none, add, min, max };

// A part of a register: word, byte n or half n.
struct video_part {
  std::uint8_t bits : 6 = 32;
  std::uint8_t index : 2 = 0;
};

struct video_form {
  video_operation operation : 4 = video_operation::add;
  video_relation relation : 4 = video_relation::eq;
  video_second second : 4 = video_second::none;
  std::uint8_t lanes : 4 = 1;  // 2 or 4: in each half or byte
  bool d_signed : 1 = false, a_signed : 1 = false, b_signed : 1 = false, saturates : 1 = false;
  bool wraps : 1 = false;  // shift amounts wrap, otherwise they are clamped
  video_part a, b, d;
};
static_assert(sizeof(video_form) <= sizeof(std::int64_t));

// The form as the immediate of an op, and back.
inline std::int64_t pack(const video_form& f) {
  std::int64_t bits = 0;
  std::memcpy(&bits, &f, sizeof f);
  return bits;
}
inline video_form unpack_video(std::int64_t bits) {
  video_form f;
  std::memcpy(static_cast<void*>(&f), &bits, sizeof f);
  return f;
}

}  // namespace stepwise::emulator
