// Finds the 32-bit operation of an address whose result did not fit.
#include "common/emulator/check/overflow.hpp"

#include <doctest/doctest.h>

#include <map>
#include <string>

using namespace stepwise;
using namespace stepwise::emulator;

namespace {

using values = std::map<std::string, std::int64_t, std::less<>>;

// The last instruction is the access. Returns "operation = exact", or "" if nothing is found.
std::string overflow_in(const std::string& text, const values& registers) {
  const ptx::module module(
      ".version 9.0\n.target sm_90\n.address_size 64\n.entry k()\n{\n.reg .b32 r<9>;\n"
      ".reg .b64 d<9>;\n" +
      text + "}\n");
  const ptx::body& body = module.body_of(module.functions.at(0));
  const register_flow flow(body);
  const auto found = find_overflow(flow, static_cast<std::int32_t>(body.instructions.size()) - 1,
                                   [&](std::string_view name) -> std::optional<std::uint64_t> {
                                     const auto at = registers.find(name);
                                     if (at == registers.end()) return std::nullopt;
                                     return static_cast<std::uint64_t>(at->second);
                                   });
  return found ? found->operation + " = " + found->exact : "";
}

const std::string indexed_store =
    "mul.wide.s32 d1, r2, 4;\nadd.s64 d2, d0, d1;\nst.global.u32 [d2], r0;\n";
constexpr std::int64_t two_31 = std::int64_t{1} << 31;

}  // namespace

TEST_CASE("a product or a sum that does not fit in an int is named") {
  CHECK(overflow_in("mov.u32 r0, %ctaid.x;\nmul.lo.s32 r2, r0, 256;\n" + indexed_store,
                    {{"r0", 8388608}, {"r2", -two_31}}) == "8388608 * 256 = 2147483648");
  CHECK(overflow_in(
            "mov.u32 r0, %ctaid.x;\nshl.b32 r1, r0, 8;\nadd.s32 r2, r1, r3;\n" + indexed_store,
            {{"r0", 8388608}, {"r1", -two_31}, {"r3", 5}, {"r2", -two_31 + 5}}) ==
        "8388608 * 256 = 2147483648");
  CHECK(overflow_in("mad.lo.s32 r2, r0, r1, r3;\n" + indexed_store,
                    {{"r0", 50000}, {"r1", 50000}, {"r3", 7}, {"r2", 2500000007 - 2 * two_31}}) ==
        "50000 * 50000 = 2500000000");
}

TEST_CASE("an index that fits, or that comes back into range, is not an overflow") {
  CHECK(
      overflow_in("mul.lo.s32 r2, r0, 256;\n" + indexed_store, {{"r0", 8}, {"r2", 2048}}).empty());
  CHECK(overflow_in("add.s32 r2, r0, -1;\n" + indexed_store, {{"r0", 0}, {"r2", -1}}).empty());
  CHECK(overflow_in("mul.lo.s32 r1, r0, 256;\nsub.s32 r2, r1, r3;\n" + indexed_store,
                    {{"r0", 8388608}, {"r1", -two_31}, {"r3", 1}, {"r2", two_31 - 1}})
            .empty());
}

TEST_CASE("changed operands and registers with two definitions do not name an overflow") {
  CHECK(overflow_in("mul.lo.s32 r2, r0, 256;\n" + indexed_store, {{"r0", 8388609}, {"r2", -two_31}})
            .empty());
  CHECK(overflow_in("mul.lo.s32 r2, r0, 256;\nadd.s32 r2, r2, 1;\n" + indexed_store,
                    {{"r0", 8388608}, {"r2", -two_31}})
            .empty());
}

TEST_CASE("an unsigned index has twice the range") {
  const std::string wide =
      "mul.wide.u32 d1, r2, 4;\nadd.s64 d2, d0, d1;\nst.global.u32 [d2], r0;\n";
  CHECK(overflow_in("mul.lo.s32 r2, r0, 256;\n" + wide, {{"r0", 8388608}, {"r2", two_31}}).empty());
  CHECK(overflow_in("mul.lo.s32 r2, r0, 256;\n" + wide, {{"r0", 16777217}, {"r2", 256}}) ==
        "16777217 * 256 = 4294967552");
}
