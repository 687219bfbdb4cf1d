// The golden modules next to the tests, and functions that access their content.
#pragma once

#include <doctest/doctest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "common/ptx/ast.hpp"

namespace stepwise::ptx {

inline std::string golden_text(const std::string& name) {
  std::ifstream file(std::string(GOLDEN_FOLDER) + "/" + name + ".ptx", std::ios::binary);
  REQUIRE_MESSAGE(file.is_open(), "no golden file ", name);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

inline const std::vector<std::string>& golden_names() {
  static const std::vector<std::string> names = {"declarations", "functions", "instructions",
                                                 "scopes", "inlining"};
  return names;
}

// A module with one kernel k() with this body. The body's first line is line 5.
inline std::string kernel_text(const std::string& body_text) {
  return ".version 9.0\n.target sm_90\n.address_size 64\n.entry k() {\n" + body_text + "\n}\n";
}

// The message of the parse_error that `text` causes, even in a body; "" if there is none.
inline std::string error_of(const std::string& text) {
  try {
    const module m(text);
    for (const function& f : m.functions) {
      if (!f.is_declaration) m.body_of(f);
    }
  } catch (const parse_error& e) {
    return e.what();
  }
  return "";
}

// Appends an operand or an instruction as the text with which a test compares it.
inline void show(std::string& out, const operand& o) {
  const auto elements = [&](char open, char close) {
    out += open;
    for (std::size_t i = 0; i < o.elements.size(); ++i) {
      if (i) out += ", ";
      show(out, o.elements[i]);
    }
    out += close;
  };
  const auto number = [&](std::string_view before) {
    out.append(before).append(std::to_string(static_cast<std::int64_t>(o.bits)));
  };
  const auto offset = [&] {
    if (o.offset != 0) out.append("+").append(std::to_string(o.offset));
  };
  switch (o.kind) {
    case operand_kind::name:
      out.append(o.negated ? "!" : "").append(o.name);
      break;
    case operand_kind::integer:
      number("#");
      break;
    case operand_kind::float32:
      number("f#");
      break;
    case operand_kind::float64:
      number("d#");
      break;
    case operand_kind::vector:
      elements('{', '}');
      break;
    case operand_kind::memory:
      out.append("[").append(o.name);
      offset();
      for (const operand& e : o.elements) {
        out += ", ";
        show(out, e);
      }
      out += ']';
      break;
    case operand_kind::pair:
      elements('<', '>');
      break;
    case operand_kind::sink:
      out += '_';
      break;
    case operand_kind::list:
      elements('(', ')');
      break;
    case operand_kind::offset:
      out.append(o.name);
      offset();
      break;
  }
}

inline std::string shown(const instruction& i) {
  std::string out;
  if (!i.guard.empty()) out.append(i.guard_negated ? "@!" : "@").append(i.guard).append(" ");
  out.append(i.text);
  for (std::size_t k = 0; k < i.operands.size(); ++k) {
    out.append(k ? ", " : " ");
    show(out, i.operands[k]);
  }
  return out;
}

}  // namespace stepwise::ptx
