// Theoretical rates.
#include "common/device/links.hpp"

namespace stepwise {
namespace {

struct named_link {
  const char* id;
  link_rate rate;
};

// Rates in one direction. PCI Express has 16 lanes of 8, 16 or 32 GT/s, and 128 of 130 bits are
// data (PCI Express Base Specification 3.0, 4.0, 5.0). NVLink-C2C has 900 GB/s in both directions
// together (NVIDIA Grace Hopper Superchip Architecture, whitepaper).
const std::vector<named_link>& links() {
  static const std::vector<named_link> all = [] {
    const auto pcie = [](double gt_per_s) { return gt_per_s * 1e9 * 16 * 128 / 130 / 8; };
    return std::vector<named_link>{{"pcie3", {"PCI Express 3.0 x16", pcie(8)}},
                                   {"pcie4", {"PCI Express 4.0 x16", pcie(16)}},
                                   {"pcie5", {"PCI Express 5.0 x16", pcie(32)}},
                                   {"nvlink-c2c", {"NVLink-C2C", 450e9}}};
  }();
  return all;
}

}  // namespace

std::optional<link_rate> find_link(std::string_view name) {
  for (const auto& link : links())
    if (name == link.id) return link.rate;
  return std::nullopt;
}

std::vector<std::string> known_links() {
  std::vector<std::string> names;
  for (const auto& link : links()) names.push_back(link.id);
  return names;
}

}  // namespace stepwise
