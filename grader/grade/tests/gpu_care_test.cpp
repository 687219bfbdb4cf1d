// Servers that answer a probe, fail it, or answer only outside a sandbox.
#include "grader/grade/gpu_care.hpp"

#include <doctest/doctest.h>

#include "grader/sandbox/sandbox.hpp"
#include "grader/system/failure.hpp"
#include "grader/system/files.hpp"

using namespace stepwise;

namespace {

class pretended_server {
 public:
  explicit pretended_server(const std::string& script) : folder_(fs::temp_directory_path()) {
    device.gpu = true;
    device.server = folder_.path() / "server";
    write_atomically(device.server, "#!/bin/sh\n" + script + "\n");
    fs::permissions(device.server, fs::perms::owner_all);
  }
  device_choice device;

 private:
  temporary_folder folder_;
};

}  // namespace

TEST_CASE("the probe of a healthy GPU reports how much was overwritten") {
  const pretended_server one("[ $1 = probe ] && echo 123456");
  const gpu_care care = look_after_gpu(one.device);
  CHECK(care.overwritten_bytes == 123456);
  CHECK(care.walls == server_walls::none);  // no sandbox was available
  CHECK(care.missing == "system calls, namespaces");
}

TEST_CASE("a GPU that fails its probe is quarantined, and the message of its server is shown") {
  const pretended_server one("echo the fans stand still >&2; exit 4");
  CHECK_THROWS_WITH_AS(look_after_gpu(one.device), doctest::Contains("the fans stand still"),
                       failure);
}

TEST_CASE("a driver that does not start in the sandbox starts without it, and the report says so") {
  // A sandbox shows only the server itself, and none of the other files in its folder.
  protections guards = find_protections();
  if (guards.bubblewrap.empty() || !guards.filters) return;
  const pretended_server plain("echo 1"), needy("[ -e /etc/passwd ] || exit 3; echo 1");
  for (const auto* const one : {&plain, &needy}) {
    device_choice device = one->device;
    device.guards = &guards;
    // A script needs a shell, which the sandbox does not show. Both servers therefore fail inside
    // the sandbox.
    const gpu_care care = look_after_gpu(device);
    CHECK(care.walls == server_walls::system_calls);
    CHECK(care.missing.starts_with("namespaces (with these layers the driver does not start: "));
  }
}
