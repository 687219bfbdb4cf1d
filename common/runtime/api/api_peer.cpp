// The device's PCI address, and calls about peer devices, of which there are none.
#include <cstdio>

#include "common/runtime/api/api.hpp"
#include "common/runtime/properties.hpp"

using namespace stepwise;
using namespace stepwise::runtime;

namespace {

status no_peer(int number) {
  return {error::invalid_device, "device " + std::to_string(number) +
                                     " is not a peer: this runtime has one device, number 0"};
}

// The device's PCI address as text.
std::string pci_address(const state& s) {
  const cudaDeviceProp p = properties_of(s.current->description());
  char text[32];
  std::snprintf(text, sizeof text, "%04x:%02x:%02x.0", p.pciDomainID, p.pciBusID, p.pciDeviceID);
  return text;
}

// Completes an address to domain:bus:device.function. The text may omit the function. If the text
// has the function, it may omit the domain. Empty if the text is not a PCI address.
std::string full_pci_address(const char* text) {
  unsigned a = 0, b = 0, c = 0, d = 0;
  int end = 0;
  char full[64];
  const auto whole = [&](int found, int wanted) { return found == wanted && text[end] == '\0'; };
  if (whole(std::sscanf(text, "%x:%x:%x.%x%n", &a, &b, &c, &d, &end), 4)) {
    std::snprintf(full, sizeof full, "%04x:%02x:%02x.%x", a, b, c, d);
  } else if (whole(std::sscanf(text, "%x:%x:%x%n", &a, &b, &c, &end), 3)) {
    std::snprintf(full, sizeof full, "%04x:%02x:%02x.0", a, b, c);
  } else if (whole(std::sscanf(text, "%x:%x.%x%n", &b, &c, &d, &end), 3)) {
    std::snprintf(full, sizeof full, "0000:%02x:%02x.%x", b, c, d);
  } else {
    return "";
  }
  return full;
}

}  // namespace

cudaError_t cudaDeviceCanAccessPeer(int* can, int number, int peer) {
  return call_even_lost([&](state&) {
    if (number != 0 || peer != 0) return no_peer(number != 0 ? number : peer);
    if (!can) return invalid_value("cudaDeviceCanAccessPeer: the output pointer is null");
    *can = 0;
    return status{};
  });
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  return call([&](state&) {
    if (flags) return invalid_value("cudaDeviceEnablePeerAccess: unknown flags");
    if (peer != 0) return no_peer(peer);
    return status{error::peer_access_unsupported, "a device cannot be its own peer"};
  });
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  return call([&](state&) {
    if (peer != 0) return no_peer(peer);
    return status{error::peer_access_not_enabled, "access to a peer was never enabled"};
  });
}

cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int from, int to) {
  return call([&](state&) {
    if (!value || number_of(attribute) < cudaDevP2PAttrPerformanceRank ||
        number_of(attribute) > cudaDevP2PAttrOnlyPartialNativeAtomicSupported) {
      return invalid_value(
          "cudaDeviceGetP2PAttribute: the output pointer is null, or there is no such attribute");
    }
    return no_peer(from == 0 ? to : from);
  });
}

cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int number) {
  return call_even_lost([&](state& s) {
    if (number != 0) return no_peer(number);
    const std::string address = pci_address(s);
    if (!text || length <= static_cast<int>(address.size())) {
      return invalid_value("cudaDeviceGetPCIBusId: the buffer is too small");
    }
    std::memcpy(text, address.c_str(), address.size() + 1);
    return status{};
  });
}

cudaError_t cudaDeviceGetByPCIBusId(int* number, const char* text) {
  return call_even_lost([&](state& s) {
    if (!number || !text) return invalid_value("cudaDeviceGetByPCIBusId: a null pointer");
    const std::string wanted = full_pci_address(text);
    if (wanted.empty()) return invalid_value(std::string(text) + " is not a PCI address");
    if (wanted != pci_address(s)) {
      return status{error::invalid_device, std::string("there is no device at ") + text};
    }
    *number = 0;
    return status{};
  });
}
