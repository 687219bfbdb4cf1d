// Extents in JSON: [x, y, z].
#pragma once

#include <cstdint>

#include "common/device/device.hpp"

namespace stepwise {

template <class Json>  // of nlohmann's
Json extent_json(const extent& e) {
  return Json::array({e.x, e.y, e.z});
}

template <class Json>
extent extent_from(const Json& j) {
  return {j.at(0).template get<std::uint32_t>(), j.at(1).template get<std::uint32_t>(),
          j.at(2).template get<std::uint32_t>()};
}

}  // namespace stepwise
