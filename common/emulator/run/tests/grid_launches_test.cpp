// Launches from kernels: the order of children and tail launches, and refused calls.
#include <doctest/doctest.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "common/device/device.hpp"

using namespace stepwise;

namespace grid_launches_test {
namespace {

// note(out, value) appends a value to the list at out. The list's first word is its length.
const std::string head = R"(.version 9.0
.target sm_90
.address_size 64
.extern .func (.param .b64 r) __cudaCDP2GetParameterBufferV2(.param .b64 a, .param .align 4 .b8 b[12], .param .align 4 .b8 c[12], .param .b32 d);
.extern .func (.param .b32 r) __cudaCDP2LaunchDeviceV2(.param .b64 a, .param .b64 b);
.extern .func (.param .b32 r) __cudaCDP2GetLastError();
.extern .func (.param .b32 r) __cudaCDP2MemsetAsync(.param .b64 a, .param .b32 b, .param .b64 c, .param .b64 d);
.extern .func (.param .b32 r) __cudaCDP2Memset3DAsync(.param .align 8 .b8 a[32], .param .b32 b, .param .align 8 .b8 c[24], .param .b64 d);
.visible .entry note(.param .u64 out, .param .u32 value)
{
.reg .b32 %r<4>; .reg .b64 %rd<4>;
ld.param.u64 %rd1, [out];
ld.param.u32 %r1, [value];
atom.global.add.u32 %r2, [%rd1], 1;
mul.wide.u32 %rd2, %r2, 4;
add.s64 %rd3, %rd1, %rd2;
st.global.u32 [%rd3+4], %r1;
ret;
}
)";

std::string kernel_text(const std::string& body) {
  return head +
         ".visible .entry kernel(.param .u64 out)\n{\n.reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 "
         "%rd<8>;\nld.param.u64 %rd1, [out];\n" +
         body + "ret;\n}\n";
}

// Launches note(out, value) with `threads` threads in a stream.
std::string launch_text(const std::string& value, const std::string& stream,
                        const std::string& threads = "1", const std::string& callee = "note") {
  return "mov.u64 %rd2, " + callee +
         ";\n{ .param .b64 a; .param .align 4 .b8 b[12]; .param .align 4 .b8 c[12]; .param .b32 d; "
         ".param .b64 r; st.param.b64 [a+0], %rd2; st.param.b32 [b+0], 1; st.param.b32 [b+4], 1; "
         "st.param.b32 [b+8], 1; st.param.b32 [c+0], " +
         threads +
         "; st.param.b32 [c+4], 1; st.param.b32 [c+8], 1; st.param.b32 [d+0], 0; call.uni (r), "
         "__cudaCDP2GetParameterBufferV2, (a, b, c, d); ld.param.b64 %rd3, [r+0]; }\n"
         "setp.eq.s64 %p1, %rd3, 0;\n@!%p1 st.u64 [%rd3], %rd1;\n@!%p1 st.u32 [%rd3+8], " +
         value +
         ";\n{ .param .b64 a; .param .b64 b; .param .b32 r; st.param.b64 [a+0], %rd3; st.param.b64 "
         "[b+0], " +
         stream + "; call.uni (r), __cudaCDP2LaunchDeviceV2, (a, b); ld.param.b32 %r1, [r+0]; }\n";
}

// Stores this thread's last error at out[8].
const std::string keep_error =
    "{ .param .b32 r; call.uni (r), __cudaCDP2GetLastError, (); ld.param.b32 %r2, [r+0]; }\n"
    "st.global.u32 [%rd1+32], %r2;\n";

struct outcome {
  status launch, end;
  std::vector<std::uint32_t> out = std::vector<std::uint32_t>(16);
};

outcome run(const std::string& text) {
  const auto model = find_gpu("h200");
  REQUIRE(model.ok());
  const auto on = make_emulated_device(*model);
  const std::vector<std::span<const std::byte>> parts = {std::as_bytes(std::span(text))};
  const auto module = on->load_linked(parts);
  REQUIRE_MESSAGE(module.ok(), module.failure().message);
  const auto kernel = on->find_kernel(*module, "kernel");
  REQUIRE(kernel.ok());
  outcome result;
  const auto out = on->allocate(result.out.size() * 4);
  REQUIRE(out.ok());
  REQUIRE(on->fill(*out, 0, 4, result.out.size()).ok());
  const device_address parameter = *out;
  result.launch = on->launch(*kernel, {}, std::as_bytes(std::span(&parameter, 1)));
  result.end = on->synchronize();
  if (result.end.ok()) REQUIRE(on->read(std::as_writable_bytes(std::span(result.out)), *out).ok());
  return result;
}

}  // namespace

TEST_CASE("children run in the order of their launches, and tail launches after all of them") {
  const outcome o = run(kernel_text(launch_text("7", "3") + launch_text("1", "0") +
                                    launch_text("8", "3") + launch_text("2", "4") + keep_error));
  REQUIRE_MESSAGE(o.launch.ok(), o.launch.message);
  CHECK(std::vector<std::uint32_t>(o.out.begin(), o.out.begin() + 5) ==
        std::vector<std::uint32_t>{4, 1, 2, 7, 8});
  CHECK(o.out[8] == 0);
}

// A parent and its second child wait, one after the other, for words 8 and 9.
TEST_CASE("a grid that waits is left running with its children, which still run in order") {
  const auto poll = [](int word) {
    const std::string label = "poll" + std::to_string(word);
    return label + ":\nld.volatile.global.u32 %r3, [%rd1+" + std::to_string(4 * word) +
           "];\nsetp.eq.u32 %p2, %r3, 0;\n@%p2 bra " + label + ";\n";
  };
  const std::string waiter =
      ".visible .entry waiter(.param .u64 out, .param .u32 value)\n{\n"
      ".reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<8>;\nld.param.u64 %rd1, [out];\n" +
      poll(9) + "ret;\n}\n";
  std::string text = kernel_text(launch_text("7", "3") + launch_text("1", "0") +
                                 launch_text("0", "0", "1", "waiter") + launch_text("2", "4") +
                                 poll(8) + keep_error);
  text.insert(text.find(".visible .entry kernel("), waiter);
  const auto on = make_emulated_device(*find_gpu("h200"));
  on->extras().waiting->leave_waiting_launches(true);
  const auto module = on->load_module(std::as_bytes(std::span(text)));
  REQUIRE_MESSAGE(module.ok(), module.failure().message);
  const device_address out = *on->allocate(64);
  REQUIRE(on->fill(out, 0, 4, 16).ok());
  REQUIRE(
      on->launch(*on->find_kernel(*module, "kernel"), {}, std::as_bytes(std::span(&out, 1))).ok());
  const auto number = on->extras().waiting->left_launch();
  REQUIRE(number != 0);
  const auto words = [&] {
    std::vector<std::uint32_t> all(5);
    REQUIRE(on->read(std::as_writable_bytes(std::span(all)), out).ok());
    return all;
  };
  CHECK(words()[0] == 0);
  REQUIRE(on->fill(out + 32, 1, 4, 1).ok());
  for (int n = 0; n < 2000 && on->extras().waiting->running_kernels() != "waiter"; ++n) {
    CHECK(on->extras().waiting->runs(number));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  CHECK(on->extras().waiting->running_kernels() == "waiter");
  CHECK(words() == std::vector<std::uint32_t>{1, 1, 0, 0, 0});
  REQUIRE(on->fill(out + 36, 1, 4, 1).ok());
  for (int n = 0; n < 2000 && on->extras().waiting->runs(number); ++n)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  CHECK_FALSE(on->extras().waiting->runs(number));
  CHECK(on->synchronize().ok());
  CHECK(words() == std::vector<std::uint32_t>{3, 1, 2, 7, 0});
  CHECK(on->extras().counting->counters()->launches == 5);
}

TEST_CASE("an impossible launch does not happen, and is the thread's last error") {
  SUBCASE("no threads") {
    const outcome o = run(kernel_text(launch_text("1", "0", "0") + keep_error));
    CHECK(o.out[0] == 0);
    CHECK(o.out[8] != 0);
  }
  SUBCASE("too many threads") {
    const outcome o = run(kernel_text(launch_text("1", "0", "1025") + keep_error));
    CHECK(o.out[0] == 0);
    CHECK(o.out[8] != 0);
  }
  SUBCASE("a stream that was not created") {
    const outcome o = run(kernel_text(launch_text("1", "77") + keep_error));
    CHECK(o.out[0] == 0);
    CHECK(o.out[8] == static_cast<std::uint32_t>(error::invalid_resource_handle));
  }
  SUBCASE("an address that is not a kernel") {
    std::string body = launch_text("1", "0") + keep_error;
    body.replace(body.find("mov.u64 %rd2, note"), 18, "mov.u64 %rd2, 4096");
    const outcome o = run(kernel_text(body));
    CHECK(o.out[0] == 0);
    CHECK(o.out[8] != 0);
  }
}

TEST_CASE("a kernel that launches itself stops at the limit of pending launches") {
  const outcome o = run(kernel_text("atom.global.add.u32 %r3, [%rd1], 1;\n" +
                                    launch_text("0", "0", "1", "kernel") + keep_error));
  REQUIRE(o.launch.ok());
  CHECK(o.out[0] == 2049);
  CHECK(o.out[8] == static_cast<std::uint32_t>(error::launch_pending_count_exceeded));
}

TEST_CASE("an endless chain of tail launches is stopped by the time limit") {
  REQUIRE(setenv("STEPWISE_TIME_LIMIT_S", "0.2", 1) == 0);
  const outcome o = run(kernel_text(launch_text("0", "3", "1", "kernel")));
  unsetenv("STEPWISE_TIME_LIMIT_S");
  CHECK(o.end.code == error::launch_timeout);
}

TEST_CASE("a fill that goes past its allocation stops the device") {
  const auto fill = [](const std::string& bytes) {
    return run(
        kernel_text("{ .param .b64 a; .param .b32 b; .param .b64 c; .param .b64 d; .param "
                    ".b32 r; st.param.b64 [a+0], %rd1; st.param.b32 [b+0], 3; st.param.b64 "
                    "[c+0], " +
                    bytes +
                    "; st.param.b64 [d+0], 0; call.uni (r), __cudaCDP2MemsetAsync, (a, b, "
                    "c, d); ld.param.b32 %r1, [r+0]; }\n"));
  };
  CHECK(fill("64").out[15] == 0x03030303);
  CHECK(fill("0").out[0] == 0);
  CHECK(fill("65").end.code == error::illegal_address);
}

TEST_CASE("planes of a fill must not overlap, however many there are") {
  const auto fill = [](const std::string& pitch, const std::string& rows,
                       const std::string& planes) {
    return run(kernel_text(
        "{ .param .align 8 .b8 a[32]; .param .b32 b; .param .align 8 .b8 c[24]; .param .b64 d; "
        ".param .b32 r; st.param.b64 [a+0], %rd1; st.param.b64 [a+8], " +
        pitch + "; st.param.b64 [a+16], 8; st.param.b64 [a+24], " + rows +
        "; st.param.b32 [b+0], 1; st.param.b64 [c+0], 4; st.param.b64 [c+8], 2; st.param.b64 "
        "[c+16], " +
        planes +
        "; st.param.b64 [d+0], 0; call.uni (r), __cudaCDP2Memset3DAsync, (a, b, c, d); "
        "ld.param.b32 %r1, [r+0]; }\nst.global.u32 [%rd1+60], %r1;\n"));
  };
  const outcome good = fill("8", "2", "3");
  CHECK(std::vector<std::uint32_t>(good.out.begin(), good.out.begin() + 13) ==
        std::vector<std::uint32_t>{0x01010101, 0, 0x01010101, 0, 0x01010101, 0, 0x01010101, 0,
                                   0x01010101, 0, 0x01010101, 0, 0});
  CHECK(good.out[15] == 0);
  CHECK(fill("8", "1", "1152921504606846976").out[15] ==
        static_cast<std::uint32_t>(error::invalid_value));
  CHECK(fill("0", "2", "1152921504606846976").out[15] ==
        static_cast<std::uint32_t>(error::invalid_pitch_value));
}

TEST_CASE("an unimplemented instruction in a child is refused by name") {
  std::string text = kernel_text(launch_text("1", "0"));
  text.replace(text.find("atom.global.add.u32 %r2"), 23, "nonsense.add.u32 %r2, %r2; //");
  const outcome o = run(text);
  CHECK(!o.end.ok());
  CHECK(o.end.message.find("nonsense") != std::string::npos);
}

}  // namespace grid_launches_test
