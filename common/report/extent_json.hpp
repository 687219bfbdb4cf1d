// Extents in JSON: [x, y, z].
#pragma once

#include <cstdint>

#include "common/device/device.hpp"
#include "common/formats/json.hpp"

namespace stepwise {

inline json extent_json(const extent& e) { return json::array({e.x, e.y, e.z}); }

inline extent extent_from(const json& j) {
  return {j.at(0).get<std::uint32_t>(), j.at(1).get<std::uint32_t>(), j.at(2).get<std::uint32_t>()};
}

}  // namespace stepwise
