// The findings while a submission runs, until its judge asks: by the device, whose word counts,
// and by the submission's own runtime, which can add to it.
//
// idea    The device knows places in the host's code as numbers (origins). The submission's runtime
//         is asked for the source lines of those that findings name; what it says is shown beside a
//         finding and decides nothing.
// tests   tests/service_test.cpp
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/device/remote/message.hpp"
#include "common/report/located_finding.hpp"

namespace stepwise::remote {

class finding_list {
 public:
  // Adds the new findings of the device.
  void add(std::vector<finding> found);
  // One of the runtime's, as common/report/located_finding.hpp has it; a malformed one is left out.
  void add_line(const std::string& line);
  // Sets the place of an origin that wanted() named; any other is ignored.
  void place(const give_place& where);
  // Origins without a known place; each is named once.
  std::vector<std::uint64_t> wanted();
  // All findings with their places, as lines of JSON. The device's own come first, and duplicates
  // are merged.
  // As many as fit into a reply.
  std::vector<long_text> lines() const;

 private:
  void want(std::uint64_t origin);

  // Each list has its own bound, so findings from the program never displace the device's.
  std::vector<located_finding> found_, reported_;
  std::map<std::uint64_t, std::optional<host_place>> places_;  // none: not known
  std::vector<std::uint64_t> unasked_;
};

}  // namespace stepwise::remote
