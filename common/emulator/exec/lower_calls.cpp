// Lowering: calls, and a kernel with all that it calls.
//
//         Tested by tests/call_test.cpp and common/runtime/conformance.
#include <algorithm>

#include "common/device/names.hpp"
#include "common/emulator/exec/lowering.hpp"

namespace stepwise::emulator {
namespace {

// What a return address and saved registers take of a GPU's stack, at least.
constexpr std::uint64_t call_stack_bytes = 16;

}  // namespace

// The .param variable that an argument or a result of a call names.
const ptx::variable* lowering::call_variable(const operand& o) const {
  const auto found = std::ranges::find(body_.variables, o.name, &ptx::variable::name);
  if (o.kind != operand_kind::name || found == body_.variables.end() ||
      found->space != state_space::param)
    throw unsupported{"a call whose arguments are not variables of .param space"};
  return &*found;
}

// call[.uni] [(results),] name [, (arguments)] [, prototype or targets]
void lowering::call() {
  const std::vector<operand>& o = i_->operands;
  std::size_t next = 0;
  std::vector<const ptx::variable*> results, arguments;
  const auto take = [&](std::vector<const ptx::variable*>& into) {
    if (next >= o.size() || o[next].kind != operand_kind::list) return;
    for (const operand& e : o[next].elements) into.push_back(call_variable(e));
    ++next;
  };
  take(results);
  const operand& callee = o.at(next++);
  take(arguments);

  const linked_function* f = plan_.unit().find_function(part_, callee.name);
  if (f == nullptr && find_register(callee.name) == nullptr) {
    static const std::map<std::string_view, device_function> library = {
        {"vprintf", device_function::vprintf},
        {"malloc", device_function::malloc},
        {"free", device_function::free},
        {"__assertfail", device_function::assertfail},
    };
    const auto known = library.find(callee.name);
    if (known == library.end() && callee.name.starts_with("cuda")) {
      throw unsupported{"a call of " + std::string(callee.name) +
                        ": kernels cannot launch kernels here (dynamic parallelism)"};
    }
    if (known == library.end()) {
      throw unsupported{"a call of " + readable_name(callee.name) +
                        ", which no part of the program defines"};
    }
    return library_function(known->second, arguments, results);
  }

  call_site site;
  if (f != nullptr)
    site.function = static_cast<std::uint32_t>(plan_.index_of(f));
  else
    site.target = source(callee, value_class::b64);
  std::uint64_t at = 0;  // in the callee's frame, as frame_offsets has it
  const auto piece_of = [&](const ptx::variable* v) {
    const std::uint64_t align = std::max(1u, v->alignment);
    at = (at + align - 1) / align * align;
    const call_site::piece p{static_cast<std::uint32_t>(locals_.at(v->name).second),
                             static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(v->bytes)};
    at += v->bytes;
    return p;
  };
  for (const ptx::variable* v : results) {
    site.results.push_back(piece_of(v));
    site.signature += std::to_string(v->alignment) + ":" + std::to_string(v->bytes) + ",";
  }
  site.signature += ";";
  for (const ptx::variable* v : arguments) {
    site.arguments.push_back(piece_of(v));
    site.signature += std::to_string(v->alignment) + ":" + std::to_string(v->bytes) + ",";
  }
  site.signature += ";";
  emit("<call>").slot = static_cast<std::uint32_t>(out_.calls.size());
  out_.calls.push_back(std::move(site));
  emit("<join>");  // where the lanes meet that return at different times
}

void lowering::library_function(device_function which,
                                const std::vector<const ptx::variable*>& arguments,
                                const std::vector<const ptx::variable*>& results) {
  static constexpr std::size_t wanted[] = {2, 1, 1, 5};  // as device_function lists them
  const bool gives = which == device_function::vprintf || which == device_function::malloc;
  if (arguments.size() != wanted[static_cast<int>(which)] || results.size() != (gives ? 1u : 0u))
    throw unsupported{"a call of this form of a function of the device's runtime"};
  library_call site;
  site.which = which;
  for (const ptx::variable* v : arguments)
    site.arguments.push_back(static_cast<std::uint32_t>(locals_.at(v->name).second));
  if (gives) site.result = static_cast<std::uint32_t>(locals_.at(results[0]->name).second);
  emit("<library call>").slot = static_cast<std::uint32_t>(out_.library_calls.size());
  out_.library_calls.push_back(std::move(site));
}

// alloca.type d, bytes[, alignment]; stacksave.type d; stackrestore.type a: addresses in the local
// state space.
void lowering::stack() {
  const value_class k = type_bits(type()) == 32 ? value_class::b32 : value_class::b64;
  const std::string bits = ".b" + std::to_string(bits_of(k));
  const std::vector<operand>& o = i_->operands;
  if (i_->opcode == "alloca") {
    const std::uint32_t bytes = source(o.at(1), k);
    op& e = emit("<alloca" + bits + ">", destination(o[0], k), bytes);
    e.immediate = o.size() > 2 ? static_cast<std::int64_t>(o[2].bits) : 8;
    out_.limited_stack = true;
  } else if (i_->opcode == "stacksave") {
    emit("<stacksave" + bits + ">", destination(o.at(0), k));
  } else {
    emit("<stackrestore" + bits + ">", 0, source(o.at(0), k));
  }
}

namespace {

// Lowers one function of a plan. A function that only an address may lead to keeps what went wrong
// for the call that reaches it.
status lower_function(const call_plan& plan, const call_plan::planned& p, program& out) {
  const linked_function& f = *p.function;
  program_function& into = out.functions.emplace_back();
  into.pretty = readable_name(f.function->name);
  into.stack_bytes = call_stack_bytes;
  into.signature = signature_of(f.function->returns, f.function->parameters);
  const std::size_t ops = out.code.size();
  status failure;
  try {
    lowering l(plan, f, out, into);
    try {
      l.run();
      return {};
    } catch (const unsupported& u) {
      failure = {error::not_supported, l.where() + ": the emulator does not implement " + u.what};
    } catch (const std::out_of_range&) {
      failure = {error::invalid_ptx, l.where() + ": an instruction has too few operands"};
    }
  } catch (const ptx::parse_error& e) {
    failure = {error::invalid_ptx, into.pretty + ": " + e.what()};
  }
  if (!p.by_address_only) return failure;
  out.code.resize(ops);
  out.instruction.resize(ops);
  into.first_op = static_cast<std::uint32_t>(ops);
  into.failure = std::move(failure);
  return {};
}

// The local memory of the longest chain of calls; nothing where chains have no end.
class longest_chain {
 public:
  longest_chain(const call_plan& plan, const program& code) : plan_(plan), code_(code) {
    states_.resize(plan.functions().size());
  }
  std::optional<std::uint64_t> from(std::size_t n) {
    state& s = states_[n];
    if (s.running) return std::nullopt;
    if (s.known) return s.bytes;
    s.running = true;
    std::uint64_t most = 0;
    for (const std::size_t callee : plan_.functions()[n].callees) {
      const auto below = from(callee);
      if (!below) return std::nullopt;
      most = std::max(most, *below);
    }
    s = {false, true, code_.functions[n].local_bytes + most};
    return s.bytes;
  }

 private:
  struct state {
    bool running = false, known = false;
    std::uint64_t bytes = 0;
  };
  const call_plan& plan_;
  const program& code_;
  std::vector<state> states_;
};

}  // namespace

result<std::unique_ptr<program>> lower(const link_unit& unit, const linked_function& kernel,
                                       bool watched) {
  auto out = std::make_unique<program>();
  out->watched = watched;
  const ptx::function& f = *kernel.function;
  out->name = f.name;
  out->pretty = readable_name(f.name);
  if (f.has_cluster) {
    return {error::not_supported,
            out->pretty + " (PTX line " + std::to_string(f.line) +
                "): the emulator does not implement clusters of blocks, which the kernel's "
                "directives .explicitcluster or .reqnctapercluster ask for"};
  }
  const call_plan plan(unit, kernel, watched);
  out->static_shared_bytes = plan.static_shared_bytes();
  out->system_shared_bytes = plan.system_shared_bytes();
  out->shared_gap_bytes = plan.shared_gap_bytes();
  out->shared_variables = plan.shared_variables();
  for (const call_plan::planned& p : plan.functions())
    if (status s = lower_function(plan, p, *out); !s.ok()) return s;
  for (std::size_t n = 1; n < plan.functions().size(); ++n)
    out->by_address[unit.address_of(*plan.functions()[n].function)] = static_cast<std::uint32_t>(n);
  const auto longest = longest_chain(plan, *out).from(0);
  out->limited_stack = out->limited_stack || plan.has_indirect_calls() || !longest;
  out->local_bytes = longest.value_or(0);
  return out;
}

}  // namespace stepwise::emulator
