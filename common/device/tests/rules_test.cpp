// Tests launch rules, occupancy and names. An H200 gave the answers with which they are compared.
#include <doctest/doctest.h>

#include "common/device/launch_check.hpp"
#include "common/device/names.hpp"
#include "common/device/occupancy.hpp"

using namespace stepwise;

namespace {

gpu h200() { return *find_gpu("h200"); }

kernel_attributes kernel(int registers = 10) {
  kernel_attributes k;
  k.name = "_Z5storePii";
  k.registers = registers;
  k.max_threads_per_block = 1024;
  k.max_dynamic_shared_bytes = 48 * 1024;
  return k;
}

error check(const kernel_attributes& k, extent grid, extent block, std::uint64_t shared = 0,
            bool cooperative = false) {
  return check_launch(h200(), k, {grid, block, shared, cooperative}).code;
}

}  // namespace

TEST_CASE("each side of a grid or block is at least 1 and at most the GPU's limit") {
  CHECK(check(kernel(), {1, 1, 1}, {1, 1, 1}) == error::success);
  CHECK(check(kernel(), {0, 1, 1}, {1, 1, 1}) == error::invalid_value);
  CHECK(check(kernel(), {1, 0, 1}, {1, 1, 1}) == error::invalid_value);
  CHECK(check(kernel(), {1, 1, 0}, {1, 1, 1}) == error::invalid_value);
  CHECK(check(kernel(), {1, 1, 1}, {0, 1, 1}) == error::invalid_value);
  CHECK(check(kernel(), {1, 1, 1}, {1, 1, 0}) == error::invalid_value);
  CHECK(check(kernel(), {2147483647, 65535, 65535}, {1, 1, 1}) == error::success);
  CHECK(check(kernel(), {2147483648u, 1, 1}, {1, 1, 1}) == error::invalid_value);
  CHECK(check(kernel(), {1, 65536, 1}, {1, 1, 1}) == error::invalid_value);
  CHECK(check(kernel(), {1, 1, 65536}, {1, 1, 1}) == error::invalid_value);
  CHECK(check(kernel(), {1, 1, 1}, {1, 1, 64}) == error::success);
  CHECK(check(kernel(), {1, 1, 1}, {1, 1, 65}) == error::invalid_value);
  CHECK(check(kernel(), {1, 1, 1}, {65536, 65536, 1}) == error::invalid_value);
}

TEST_CASE("threads are limited by the GPU, by launch bounds and by registers") {
  CHECK(check(kernel(), {}, {1024, 1, 1}) == error::success);
  CHECK(check(kernel(), {}, {1025, 1, 1}) == error::invalid_value);
  CHECK(check(kernel(), {}, {32, 33, 1}) == error::invalid_value);
  kernel_attributes bounded = kernel();
  bounded.max_threads_per_block = 256;
  CHECK(check(bounded, {}, {256, 1, 1}) == error::success);
  CHECK(check(bounded, {}, {257, 1, 1}) == error::invalid_value);
  kernel_attributes hungry = kernel(128);
  hungry.max_threads_per_block = 512;  // 65536 registers / 128
  CHECK(check(hungry, {}, {512, 1, 1}) == error::success);
  CHECK(check(hungry, {}, {1024, 1, 1}) == error::launch_out_of_resources);
  CHECK(check(hungry, {}, {1025, 1, 1}) == error::invalid_value);
}

TEST_CASE("dynamic shared memory is limited to the kernel's maximum") {
  CHECK(check(kernel(), {}, {}, 49152) == error::success);
  CHECK(check(kernel(), {}, {}, 49153) == error::invalid_value);
  CHECK(check(kernel(), {}, {}, std::uint64_t{1} << 40) == error::invalid_value);
  kernel_attributes allowed = kernel();
  allowed.max_dynamic_shared_bytes = 100000;
  CHECK(check(allowed, {}, {}, 100000) == error::success);
  CHECK(check(allowed, {}, {}, 100001) == error::invalid_value);
}

TEST_CASE("all blocks of a cooperative launch must fit at once") {
  const extent warp = {32, 1, 1};
  CHECK(check(kernel(), {132 * 32, 1, 1}, warp, 0, true) == error::success);
  CHECK(check(kernel(), {132 * 32 + 1, 1, 1}, warp, 0, true) ==
        error::cooperative_launch_too_large);
  CHECK(check(kernel(), {2147483647, 65535, 65535}, warp, 0, true) ==
        error::cooperative_launch_too_large);
}

TEST_CASE("the message about a refused launch has the kernel, the request and the limit") {
  const std::string message =
      check_launch(h200(), kernel(), {{1, 1, 1}, {32, 33, 1}, 0, false}).message;
  CHECK(message.find("store:") == 0);
  CHECK(message.find("1056") != std::string::npos);
  CHECK(message.find("1024") != std::string::npos);
  CHECK(message.find("swapped") == std::string::npos);
  for (const extent& block : {extent{1070, 1, 1}, extent{33, 40, 1}})
    CHECK(check_launch(h200(), kernel(), {{256, 1, 1}, block, 0, false})
              .message.ends_with("; the grid has 256 blocks: are the two swapped in <<<blocks, "
                                 "threads>>>?"));
}

TEST_CASE("occupancy agrees with an H200's answers") {
  const auto blocks = [](const kernel_attributes& k, std::uint64_t threads, std::uint64_t shared) {
    const auto found = resident_blocks(h200(), k, threads, shared);
    REQUIRE(found.ok());
    return found->blocks;
  };
  CHECK(blocks(kernel(), 32, 0) == 32);
  CHECK(blocks(kernel(), 96, 0) == 21);
  CHECK(blocks(kernel(), 1000, 0) == 2);
  CHECK(blocks(kernel(), 1024, 0) == 2);
  CHECK(blocks(kernel(128), 256, 0) == 2);
  CHECK(blocks(kernel(128), 512, 0) == 1);
  CHECK(blocks(kernel(128), 1024, 0) == 0);
  CHECK(blocks(kernel(), 256, 48000) == 4);
  CHECK(blocks(kernel(), 256, 49153) == 0);  // not allowed without opting in
  const auto limited = resident_blocks(h200(), kernel(128), 256, 0);
  CHECK(limited->by_registers);
  CHECK(!limited->by_warps);
  CHECK(resident_blocks(h200(), kernel(), 0, 0).failure().code == error::invalid_value);
  CHECK(resident_blocks(h200(), kernel(), 1025, 0).failure().code == error::invalid_value);
}

TEST_CASE("paths that PTX cannot hold are percent-coded") {
  for (const std::string path :
       {"/home/me/say \"hi\".cu", "/a\\b%22.cu", "/new\nline/\x7f", "/größe.cu", "/\xff.cu", "/"}) {
    const std::string coded = percent_coded(path);
    CHECK(coded.starts_with("/percent-coded/"));
    CHECK(coded.find_first_of("\"\\\n\x7f\xff") == std::string::npos);
    CHECK(decoded_path(coded) == path);
  }
  for (const char* other : {"/home/me/a%22b.cu", "/percent-coded", "", "percent-coded/%22"}) {
    CHECK(decoded_path(other) == other);
  }
  CHECK(decoded_path("/percent-coded/%2") == "/%2");
  CHECK(decoded_path("/percent-coded/%zz%") == "/%zz%");
}

TEST_CASE("names are reported as they are written in the source") {
  CHECK(readable_name("_Z5storePii") == "store");
  CHECK(readable_name("_Z6reduceILj256EEvPKiPi") == "reduce<256u>");
  CHECK(readable_name("_ZN12_GLOBAL__N_14workEPi") == "(anonymous namespace)::work");
  CHECK(readable_name("_ZZ3recPiEN1R1fEi") == "rec::R::f");
  CHECK(readable_name("_ZN1RclEi") == "R::operator()");
  CHECK(readable_name("_ZN8__main__3addB2v1B8cw51cXTLEPi") == "__main__::add");
  CHECK(readable_name("_ZZ4mainENKUliE_clEi") == "main::{lambda(int)#1}::operator()");
  CHECK(readable_name("plain_c_name") == "plain_c_name");
  std::string doubled = "_Z1fSt4pairIiiE";  // each part is twice the one before it
  for (const char part : std::string("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"))
    doubled += std::string("S_IS") + part + "_S" + part + "_E";
  CHECK(readable_name(doubled) == doubled);
  CHECK(readable_name(doubled.substr(0, 15 + 6 * 10)) == "f");
  CHECK(readable_name(doubled.substr(0, 15 + 12 * 10)) == doubled.substr(0, 15 + 12 * 10));
  // Each part contains all parts before it, so one back-reference doubles the name: a<b<int>,
  // b<int>>.
  const std::string digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  const auto nested = [&](std::size_t depth) {
    std::string name = "_Z1f", suffix = "iE";
    for (std::size_t n = 0; n < depth; ++n) {
      name += "1" + std::string(1, static_cast<char>('a' + n)) + "I";
      const std::size_t inner = depth + n - 1;  // counted with the templates' own names
      if (n + 1 < depth)
        suffix += "S" + (inner < 36 ? "" : std::string("1")) + digits[inner % 36] + "_E";
    }
    return name + suffix;
  };
  CHECK(readable_name(nested(4)) == "f");
  CHECK(nested(4) == "_Z1f1aI1bI1cI1dIiES3_ES4_ES5_E");
  CHECK(readable_name(nested(26)) == nested(26));
  // `packs` nests expansions of a pack of 1000 arguments. In `lists`, two references to the list
  // follow each list of template arguments. Such names can expand exponentially.
  std::string lists = "_Z1f", packs = "_Z1fIJ" + std::string(1000, 'i') + "EEv";
  for (int n = 0; n < 30; ++n) {
    packs += "DpN1AIT_";
    lists += "I1AIiEEvT_T_";
  }
  for (const std::string& name :
       {packs + "T_" + std::string(30, 'E'), lists, "_Z1f" + std::string(5000, 'P') + "i"})
    CHECK(readable_name(name).size() <= 10000);
  CHECK(readable_name("f") == "f");  // the mangled name of float
  CHECK(readable_name("") == "");
}
