// The findings of a submission, kept until its judge requests them. They come from the device,
// which is authoritative, and from the submission's own runtime, which can only add to them.
//
// idea    The device identifies places in host code by numbers (origins). For the origins in
//         findings, we request the source lines from the submission's runtime. These lines are
//         shown with a finding but decide nothing.
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
  // Adds a finding from the runtime, in the format of common/report/located_finding.hpp. Drops a
  // malformed line.
  void add_line(const std::string& line);
  // Sets the place of an origin from wanted(). Ignores other origins.
  void place(const give_place& where);
  // Origins without a known place. Each origin is returned only once.
  std::vector<std::uint64_t> wanted();
  // As many findings with their places as fit into a reply, as lines of JSON. The device's findings
  // come first, and duplicates are merged.
  std::vector<long_text> lines() const;

 private:
  void want(std::uint64_t origin);

  // Each list has its own bound, so findings from the program never displace the device's.
  std::vector<located_finding> found_, reported_;
  std::map<std::uint64_t, std::optional<host_place>> places_;  // none if unknown
  std::vector<std::uint64_t> unasked_;
};

}  // namespace stepwise::remote
