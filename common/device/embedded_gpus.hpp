// The texts of common/gpus/*.toml and *.measured.jsonl, put into the program when it is built
// (meson.build).
#pragma once

#include <span>
#include <string_view>

namespace stepwise {

struct embedded_gpu {
  std::string_view id;
  std::string_view text;
  std::string_view measured;  // JSON; empty: nobody measured it
};

extern const std::span<const embedded_gpu> embedded_gpus;

}  // namespace stepwise
