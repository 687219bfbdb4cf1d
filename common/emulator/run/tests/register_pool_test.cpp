// Tests the registers that a block has for setmaxnreg.
#include <doctest/doctest.h>

#include <string>

#include "common/device/device.hpp"

using namespace stepwise;

namespace {

// Runs one block of a kernel with these bounds, and returns its final status. %r1 is the thread's
// index.
status run(const std::string& bounds, unsigned threads, const std::string& body) {
  const std::string text = ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k() " +
                           bounds +
                           "\n{\n.reg .pred %p<2>;\n.reg .b32 %r<2>;\nmov.u32 %r1, %tid.x;\n"
                           "setp.lt.u32 %p1, %r1, 128;\n" +
                           body + "\nret;\n}\n";
  const auto device = make_emulated_device(*find_gpu("h200"));
  const auto module = device->load_module(std::as_bytes(std::span(text)));
  REQUIRE(module.ok());
  const auto kernel = device->find_kernel(*module, "k");
  REQUIRE(kernel.ok());
  const status launch = device->launch(*kernel, {{1, 1, 1}, {threads, 1, 1}, 0, false}, {});
  return launch.ok() ? device->synchronize() : launch;
}

std::string fewer(int count) {
  return "setmaxnreg.dec.sync.aligned.u32 " + std::to_string(count) + ";\n";
}
std::string more(int count) {
  return "setmaxnreg.inc.sync.aligned.u32 " + std::to_string(count) + ";\n";
}

// The first 128 threads run `first`, and the others `rest`. All of them meet at the end.
std::string roles(const std::string& first, const std::string& rest) {
  return "@%p1 bra first;\n" + rest + "bra end;\nfirst:\n" + first + "end:\nbar.sync 0;";
}

}  // namespace

// The counts are those that ptxas 13.0 -v prints for such a kernel.
TEST_CASE("the bounds of a kernel decide how many registers its threads have at entry") {
  const struct {
    const char* bounds;
    unsigned threads;
    int wanted, at_entry;  // the latter rounded up to a multiple of 8
  } rows[] = {
      {".maxntid 384, 1, 1 .minnctapersm 1", 384, 240, 168},
      {".maxntid 384 .minnctapersm 2", 384, 240, 80},
      {".reqntid 384 .minnctapersm 1", 384, 240, 168},
      {".maxntid 640 .minnctapersm 1", 640, 240, 96},
      {".maxntid 896 .minnctapersm 1", 896, 240, 72},
      {".maxntid 1024 .minnctapersm 1", 1024, 240, 64},
      {".maxntid 130 .minnctapersm 3", 128, 240, 128},
      {".maxntid 128 .minnctapersm 3", 128, 240, 168},
      {".maxntid 384 .maxnreg 128", 384, 240, 128},
      {".maxnreg 100", 128, 240, 104},
      {".maxntid 384 .minnctapersm 1 .maxnreg 200", 384, 240, 168},
  };
  for (const auto& r : rows) {
    CAPTURE(r.bounds);
    const status s = run(r.bounds, r.threads, more(r.wanted));
    CHECK(s.code == error::launch_timeout);
    CAPTURE(s.message);
    CHECK(s.message.find("instead of " + std::to_string(r.at_entry) + ",") != std::string::npos);
  }
}

TEST_CASE("setmaxnreg is ignored where ptxas does not know the count at entry") {
  for (const char* const bounds : {"", ".maxntid 384, 1, 1", ".reqntid 384", ".minnctapersm 1",
                                   ".maxntid 384 .minnctapersm 16"}) {
    CAPTURE(bounds);
    CHECK(run(bounds, 384, more(240)).ok());
  }
}

TEST_CASE("an increase waits until other warps have freed enough registers") {
  const char* const bounds = ".maxntid 384 .minnctapersm 1";
  CHECK(run(bounds, 384, roles(fewer(24), more(240))).ok());
  CHECK(run(bounds, 384, roles(fewer(40) + fewer(24), more(200) + more(240))).ok());
  CHECK(run(bounds, 384, roles(fewer(24) + more(24), more(240) + fewer(168) + more(240))).ok());
  const status s = run(bounds, 384, roles(fewer(32), more(240)));
  CHECK(s.code == error::launch_timeout);
  CAPTURE(s.message);
  CHECK(s.message.find("2304 more, but 2048 of the 16128 registers that") != std::string::npos);
}

TEST_CASE("the count at entry is at most the largest count that the kernel asks for") {
  const char* const bounds = ".maxntid 384 .minnctapersm 1";
  CHECK(run(bounds, 384, fewer(24) + more(64)).ok());
  const status s = run(bounds, 384,
                       roles(fewer(40), fewer(24) + "bar.sync 0;\n" + more(64)) +
                           "\n@%p1 bra last;\nbar.sync 0;\nlast:\n");
  CHECK(s.ok());
}

// As on an H200.
TEST_CASE("a warp that exits frees no registers") {
  const char* const bounds = ".maxntid 384 .minnctapersm 1";
  const status s = run(bounds, 384, "@%p1 exit;\n" + more(240));
  CHECK(s.code == error::launch_timeout);
  CHECK(s.message.find("but 0 of the 16128 registers that") != std::string::npos);
  CHECK(run(bounds, 384, "@!%p1 bra more;\n" + fewer(24) + "exit;\nmore:\n" + more(240)).ok());
}

// As on an H200: if eight warps ask for the registers of one warp, two of them continue.
TEST_CASE("only every fourth warp can take the registers that a warp has freed") {
  const char* const bounds = ".maxntid 384 .minnctapersm 1";
  const std::string of_one_warp = "setp.lt.u32 %p1, %r1, 32;\n@!%p1 bra others;\n" + fewer(24) +
                                  "exit;\nothers:\nsetp.lt.u32 %p1, %r1, 128;\n@%p1 exit;\n";
  const std::string not_fourth = "and.b32 %r1, %r1, 96;\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 exit;\n";
  CHECK(run(bounds, 384, of_one_warp + not_fourth + more(240)).ok());
  const status s = run(bounds, 384, of_one_warp + more(176));
  CHECK(s.code == error::launch_timeout);
  CHECK(s.message.find("warp 5 asks") != std::string::npos);
}

TEST_CASE("setmaxnreg with an impossible count is not supported") {
  for (const int count : {16, 20, 100, 264})
    CHECK(run(".maxnreg 128", 128, more(count)).code == error::not_supported);
}
