// From a device to the same one with judged calls. Tested by tests/judged_session_test.cpp.
#include "grader/judge/judged_session.hpp"

namespace stepwise {
namespace {

std::unique_ptr<call_session> start_judged_session(const fs::path& program,
                                                   const device_choice& device,
                                                   const call_file& file, session_options options) {
  return std::make_unique<judged_session>(program, device, file, std::move(options));
}

}  // namespace

device_choice judged_on(device_choice device, const installation& where) {
  device.server =
      where.build / "common" / "device" / "remote" / "server" / "stepwise-device-server";
  device.client_runtime = where.served_runtime;
  device.start_judged = start_judged_session;
  return device;
}

}  // namespace stepwise
