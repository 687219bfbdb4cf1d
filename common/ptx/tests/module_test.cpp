// Tests a module's scope: golden/declarations.ptx and golden/functions.ptx, which ptxas accepts
// too.
#include <cstring>
#include <thread>

#include "common/ptx/tests/golden.hpp"

namespace stepwise::ptx {
namespace {

const variable& variable_of(const module& m, std::string_view name) {
  const variable* const v = m.find_variable(name);
  REQUIRE_MESSAGE(v != nullptr, "no variable ", std::string(name));
  return *v;
}

// The initial values of all 32-bit elements.
std::vector<std::uint32_t> words_of(const variable& v) {
  std::vector<std::uint32_t> out(v.bytes / 4);
  if (!v.initial.empty()) std::memcpy(out.data(), v.initial.data(), v.initial.size());
  return out;
}

std::uint64_t scalar_of(const variable& v) {
  std::uint64_t out = 0;
  if (!v.initial.empty()) std::memcpy(&out, v.initial.data(), v.initial.size());
  return out;
}

using words = std::vector<std::uint32_t>;

TEST_CASE("the head of a module is parsed") {
  const module m(golden_text("declarations"));
  CHECK(m.version_major == 9);
  CHECK(m.version_minor == 0);
  CHECK(m.target == "sm_90a");
  CHECK(m.target_sm == 90);
  CHECK_FALSE(m.is_debug);
  CHECK(m.files.at(1) == "/home/student/lab.cu");
  CHECK(m.files.at(2) == "a back\\slash\\");
  CHECK(module(".version 8.10 .target sm_120, debug").is_debug);
  CHECK(module(".version 8.10 .target sm_120, debug").version_minor == 10);
}

TEST_CASE("scalars have their initial values") {
  const module m(golden_text("declarations"));
  const variable& counter = variable_of(m, "counter");
  CHECK(counter.space == state_space::global);
  CHECK(counter.type == scalar_type::u32);
  CHECK(counter.alignment == 4);
  CHECK(counter.bytes == 4);
  CHECK(counter.line == 6);
  CHECK_FALSE(counter.is_array);
  CHECK_FALSE(counter.is_visible);
  CHECK(scalar_of(counter) == 7);
  CHECK(variable_of(m, "ratio").is_visible);
  CHECK(scalar_of(variable_of(m, "ratio")) == 0x4004000000000000);
  CHECK(scalar_of(variable_of(m, "third")) == 0x3EAAAAAB);
  CHECK(variable_of(m, "third").alignment == 4);
  CHECK(scalar_of(variable_of(m, "decimal")) == 0x40200000);
  CHECK(scalar_of(variable_of(m, "negative")) == static_cast<std::uint64_t>(-5));
  CHECK(scalar_of(variable_of(m, "large")) == ~std::uint64_t{0});
  CHECK(scalar_of(variable_of(m, "hexadecimal")) == 255);
  CHECK(scalar_of(variable_of(m, "octal")) == 15);
  CHECK(scalar_of(variable_of(m, "binary")) == 5);
  CHECK(scalar_of(variable_of(m, "computed")) == 16 - 3 + 10 + 1);
  CHECK(variable_of(m, "wide").bytes == 16);
  CHECK(variable_of(m, "wide").alignment == 16);
  CHECK(m.find_variable("$odd_name") != nullptr);
  CHECK(m.find_variable("_under") != nullptr);
  CHECK(m.find_variable("%percent") != nullptr);
  CHECK(m.find_variable("nothing") == nullptr);
}

TEST_CASE("arrays, nested braces and vectors are parsed") {
  const module m(golden_text("declarations"));
  const variable& palette = variable_of(m, "palette");
  CHECK(palette.space == state_space::constant);
  CHECK(palette.bytes == 8);
  CHECK(palette.alignment == 16);
  CHECK(palette.is_array);
  CHECK(palette.initial == std::vector<std::uint8_t>{1, 2, 3});
  CHECK(variable_of(m, "signs").initial == std::vector<std::uint8_t>{0xFF, 0xFF, 2, 0, 0xFD, 0xFF});
  CHECK(words_of(variable_of(m, "matrix")) == words{1, 0, 0, 4, 5, 6});
  CHECK(words_of(variable_of(m, "counted")) == words{10, 20, 30});
  CHECK(words_of(variable_of(m, "rows")) == words{1, 2, 3, 0});
  const variable& quad = variable_of(m, "quad");
  CHECK(quad.vector_length == 4);
  CHECK(quad.alignment == 16);
  CHECK(words_of(quad) == words{0x3F800000, 0x40000000, 0x40400000, 0x40800000});
  CHECK(variable_of(m, "pairs").alignment == 32);
  CHECK(words_of(variable_of(m, "pairs")) == words{1, 2, 3, 4});
  CHECK(variable_of(m, "sums").bytes == 4 * 32 * 4);
  CHECK(variable_of(m, "tile").space == state_space::shared);
}

TEST_CASE("addresses can be initial values") {
  const module m(golden_text("declarations"));
  const auto only = [&](std::string_view name) {
    const variable& v = variable_of(m, name);
    REQUIRE(v.relocations.size() == 1);
    return v.relocations[0];
  };
  CHECK(only("address").symbol == "counter");
  CHECK(only("address").generic);
  CHECK(only("address").bytes == 8);
  CHECK(only("further").addend == 8);
  CHECK_FALSE(only("plain").generic);
  CHECK(only("plain").symbol == "matrix");
  CHECK(only("plain").addend == 4);
  CHECK(only("code").symbol == "helper");
  const variable& table = variable_of(m, "table");
  REQUIRE(table.relocations.size() == 2);
  CHECK(table.relocations[1].at == 16);
  CHECK(table.relocations[1].addend == 16);

  const variable& packed = variable_of(m, "packed");
  CHECK(packed.initial == std::vector<std::uint8_t>{1, 0, 0, 0, 0, 0, 0, 0, 0, 253, 255});
  REQUIRE(packed.relocations.size() == 8);
  for (unsigned k = 0; k < 8; ++k) {
    const relocation& r = packed.relocations[k];
    CHECK(r.at == 1 + k);
    CHECK(r.bytes == 1);
    CHECK(r.mask == std::uint64_t{0xFF} << 8 * k);
    CHECK(r.symbol == "counter");
    CHECK(r.addend == 8);
    CHECK(r.generic);
  }
}

TEST_CASE("linkage and attributes are parsed") {
  const module m(golden_text("declarations"));
  CHECK(variable_of(m, "managed").is_managed);
  CHECK(variable_of(m, "elsewhere").is_extern);
  CHECK(variable_of(m, "weak_one").is_visible);
  CHECK(variable_of(m, "common_one").is_visible);
  const variable& dynamic = variable_of(m, "dynamic");
  CHECK(dynamic.is_extern);
  CHECK(dynamic.is_array);
  CHECK(dynamic.bytes == 0);
  CHECK(dynamic.alignment == 16);
  CHECK(variable_of(m, "texture").type == scalar_type::texref);
  CHECK(variable_of(m, "sampler").initial.empty());
}

TEST_CASE("forms that older assemblers accepted, but ptxas refuses, are parsed") {
  const module m(
      ".version 9.0 .target sm_90 .const[3] .u32 banked = 1;"
      ".global .u32 flat[2][2] = {1, 2, 3, 4};"
      ".global .b8 text[] = \"abc\"; .global .b8 fixed[6] = \"abc\";");
  CHECK(variable_of(m, "banked").space == state_space::constant);
  CHECK(words_of(variable_of(m, "flat")) == words{1, 2, 3, 4});
  CHECK(variable_of(m, "text").bytes == 4);
  CHECK(variable_of(m, "text").initial == std::vector<std::uint8_t>{'a', 'b', 'c'});
  CHECK(variable_of(m, "fixed").bytes == 6);
}

TEST_CASE("an extern declaration and its definition are one variable") {
  const std::string head = ".version 9.0 .target sm_90 ";
  const module m(head + ".extern .global .u32 a; .global .u32 a = 3; .extern .global .u32 a;");
  CHECK(m.variables.size() == 1);
  CHECK_FALSE(m.variables[0].is_extern);
  CHECK(scalar_of(m.variables[0]) == 3);
  CHECK(error_of(head + ".global .u32 a; .global .u32 a;") ==
        "PTX line 1: the variable 'a' is defined twice");
}

TEST_CASE("function headers are parsed") {
  const module m(golden_text("functions"));
  const function* const bounds = m.find_function("bounds");
  REQUIRE(bounds != nullptr);
  CHECK(bounds->is_entry);
  CHECK(bounds->is_visible);
  CHECK(bounds->max_threads[0] == 256);
  CHECK(bounds->max_threads[1] == 2);
  CHECK(bounds->max_threads[2] == 1);
  CHECK(bounds->required_threads[0] == 0);
  CHECK(bounds->min_blocks == 2);
  CHECK(bounds->max_registers == 64);
  CHECK(bounds->max_cluster_rank == 8);
  REQUIRE(bounds->parameters.size() == 5);
  CHECK(bounds->parameters[0].is_pointer);
  CHECK(bounds->parameters[0].alignment == 8);
  CHECK(bounds->parameters[1].alignment == 8);
  CHECK(bounds->parameters[2].bytes == 24);
  CHECK(bounds->parameters[2].alignment == 8);
  CHECK(bounds->parameters[2].space == state_space::param);
  CHECK(bounds->parameters[4].type == scalar_type::f32);

  const function* const required = m.find_function("required");
  REQUIRE(required != nullptr);
  CHECK_FALSE(required->is_visible);
  CHECK(required->required_threads[0] == 32);
  CHECK(required->required_threads[1] == 4);
  CHECK(required->required_threads[2] == 1);
  CHECK(required->has_cluster);
  CHECK(required->required_cluster[0] == 2);
  CHECK(m.find_function("bare")->is_weak);
  CHECK(m.find_function("stop")->is_noreturn);
  CHECK(m.find_function("none") == nullptr);
}

TEST_CASE("the declarations and the definition of a function are one function") {
  const module m(golden_text("functions"));
  const function* const twice = m.find_function("twice");
  REQUIRE(twice != nullptr);
  CHECK_FALSE(twice->is_declaration);
  REQUIRE(twice->returns.size() == 1);
  CHECK(twice->returns[0].name == "func_retval0");
  CHECK(m.body_of(*twice).instructions.size() == 4);
  const function* const printing = m.find_function("vprintf");
  CHECK(printing->is_extern);
  CHECK(printing->is_declaration);
  CHECK_THROWS_WITH_AS(m.body_of(*printing), "PTX line 8: the function 'vprintf' has no body here",
                       parse_error);
  const function* const by_register = m.find_function("by_register");
  CHECK(by_register->parameters[1].space == state_space::reg);
  CHECK(error_of(kernel_text("ret;") + ".entry k() { ret; }") ==
        "PTX line 7: the function 'k' is defined twice");
}

TEST_CASE("an alias finds its function, and a cycle of aliases finds nothing") {
  const module m(kernel_text("ret;") + ".func f() { ret; } .alias g, f; .alias a, b; .alias b, a;");
  CHECK(m.find_function("g") == m.find_function("f"));
  CHECK(m.find_function("a") == nullptr);
}

TEST_CASE("a body is parsed once, by the first thread that asks for it") {
  const module m(kernel_text("no instruction here ]") + ".func fine() { ret; ret; }");
  const function* const fine = m.find_function("fine");
  const body* seen[4] = {};
  {
    std::vector<std::thread> threads;
    for (const body*& out : seen) {
      threads.emplace_back([&m, fine, &out] { out = &m.body_of(*fine); });
    }
    for (std::thread& t : threads) t.join();
  }
  for (const body* const b : seen) CHECK(b == seen[0]);
  CHECK(seen[0]->instructions.size() == 2);
  for (int again = 0; again < 2; ++again) {
    CHECK_THROWS_AS(m.body_of(*m.find_function("k")), parse_error);
  }
}

TEST_CASE("the errors of a module's scope name what was expected and what was found") {
  const std::string head = ".version 9.0\n.target sm_90\n";
  CHECK(error_of("") == "PTX line 1: expected '.version' in the module");
  CHECK(error_of(".version 9\n") == "PTX line 1: expected a version such as 9.0, found '9'");
  CHECK(error_of(head + ".address_size 32") == "PTX line 3: only 64-bit addresses are supported");
  CHECK(error_of(head + "mov.u32 a, b;") == "PTX line 3: expected a directive, found 'mov.u32'");
  CHECK(error_of(head + ".globl .u32 a;") ==
        "PTX line 3: expected a directive of the module's scope, found '.globl'");
  CHECK(error_of(head + ".global .u33 a;") == "PTX line 3: expected a type, found '.u33'");
  CHECK(error_of(head + ".global .u32 a") ==
        "PTX line 3: expected ';' after a declaration, found the end");
  CHECK(error_of(head + ".global .align 3 .u32 a;") ==
        "PTX line 3: an alignment must be a power of two");
  CHECK(error_of(head + ".global .u32 a[2] = {1, 2, 3};") ==
        "PTX line 3: expected '}' after the last element, found '3'");
  CHECK(error_of(head + ".global .u32 a[2] = {1, 2;") ==
        "PTX line 3: expected '}' or ',' in an initialiser, found ';'");
  CHECK(error_of(head + ".global .u32 a[1 << 40];") ==
        "PTX line 3: a variable of more than 2^40 bytes");
  CHECK(error_of(head + ".global .u32 a[1000000][1000000][1000000];") ==
        "PTX line 3: a variable of more than 2^40 bytes");
  CHECK(error_of(head + ".global .u32 a = 1 / 0;") ==
        "PTX line 3: division by zero in a constant expression");
  CHECK(error_of(head + ".global .b8 a[2][1000000000] = {{}, {1}};") ==
        "PTX line 3: an initialiser that is mostly gaps");
  CHECK(error_of(head + ".entry k(.global .u32 a) {}") ==
        "PTX line 3: expected '.param' or '.reg', found '.global'");
  CHECK(error_of(head + ".entry k() .maxntid x {}") == "PTX line 3: expected a number, found 'x'");
  CHECK(error_of(head + "\n.entry k() {\nret;\n") ==
        "PTX line 4: the '{' opened here is never closed");
}

TEST_CASE("types have names and sizes") {
  CHECK(bytes_of(scalar_type::f64) == 8);
  CHECK(bytes_of(scalar_type::pred) == 0);
  CHECK(type_of("bf16x2") == scalar_type::bf16x2);
  CHECK(type_of("e2m1x2") == scalar_type::other);
  CHECK(type_of("sync") == scalar_type::none);
  CHECK(type_of("none") == scalar_type::none);
  CHECK(name_of(scalar_type::s16) == "s16");
}

}  // namespace
}  // namespace stepwise::ptx
