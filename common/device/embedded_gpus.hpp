// The texts of common/gpus/*.toml and *.measured.jsonl, embedded at build time (meson.build).
#pragma once

#include <span>
#include <string_view>

namespace stepwise {

struct embedded_gpu {
  std::string_view id;
  std::string_view text;
  std::string_view measured;  // JSON; empty if there are no measurements
};

extern const std::span<const embedded_gpu> embedded_gpus;

}  // namespace stepwise
