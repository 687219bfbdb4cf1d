// Lowering: calls, and a kernel with all that it calls.
//
//         Tested by ../run/tests/call_test.cpp and common/runtime/conformance.
#include <algorithm>

#include "common/device/names.hpp"
#include "common/emulator/lower/lower.hpp"
#include "common/emulator/lower/lowering.hpp"
#include "common/emulator/lower/runtime_forms.hpp"

namespace stepwise::emulator {
namespace {

// The least stack that a return address and saved registers take on a GPU, in bytes.
constexpr std::uint64_t call_stack_bytes = 16;

}  // namespace

// The .param variable that an argument or a result of a call names.
const ptx::variable* lowering::call_variable(const operand& o) const {
  const auto found = call_variables_.find(o.name);
  if (o.kind != operand_kind::name || found == call_variables_.end())
    throw unsupported{"a call whose arguments are not variables of .param space"};
  return found->second;
}

// A direct call writes into the callee's frame, so it must match the callee's parameters.
void lowering::check_parameters(const ptx::function& f,
                                const std::vector<const ptx::variable*>& results,
                                const std::vector<const ptx::variable*>& arguments) const {
  const auto same = [](const std::vector<const ptx::variable*>& given,
                       const std::vector<ptx::variable>& wanted) {
    return std::ranges::equal(given, wanted, {}, &ptx::variable::bytes, &ptx::variable::bytes);
  };
  if (!same(results, f.returns) || !same(arguments, f.parameters)) {
    throw ptx::parse_error(i_->line, "a call of " + readable_name(f.name) +
                                         " that does not match its parameters or results");
  }
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
    if (known == library.end()) {
      if (const runtime_form* form = find_runtime_form(callee.name))
        return runtime_call(*form, arguments, results);
    }
    if (known == library.end() &&
        (callee.name.starts_with("cuda") || callee.name.starts_with("__cuda"))) {
      throw unsupported{"a call of " + std::string(callee.name) +
                        ", a function of the runtime in kernels"};
    }
    if (known == library.end()) {
      throw unsupported{"a call of " + readable_name(callee.name) +
                        ", which no part of the program defines"};
    }
    return library_function(known->second, arguments, results);
  }

  if (f != nullptr) check_parameters(*f->function, results, arguments);
  call_site site;
  if (f != nullptr)
    site.function = static_cast<std::uint32_t>(plan_.index_of(f));
  else
    site.target = source(callee, value_class::b64);
  // Their places in the callee's frame. For a call through a pointer, the call determines the
  // alignments, since the callee's signature must be the same.
  std::vector<ptx::variable> given_results, given_arguments;
  for (const ptx::variable* v : results) given_results.push_back(*v);
  for (const ptx::variable* v : arguments) given_arguments.push_back(*v);
  std::vector<std::uint32_t> offsets;
  if (f != nullptr)
    frame_offsets(f->function->returns, f->function->parameters, offsets);
  else
    frame_offsets(given_results, given_arguments, offsets);
  site.signature = signature_of(given_results, given_arguments);
  auto inside = offsets.begin();
  const auto piece_of = [&](const ptx::variable* v) {
    return call_site::piece{static_cast<std::uint32_t>(locals_.at(v->name).second), *inside++,
                            static_cast<std::uint32_t>(v->bytes)};
  };
  for (const ptx::variable* v : results) site.results.push_back(piece_of(v));
  for (const ptx::variable* v : arguments) site.arguments.push_back(piece_of(v));
  emit("<call>").slot = static_cast<std::uint32_t>(out_.calls.size());
  out_.calls.push_back(std::move(site));
  emit("<join>");  // lanes that return at different times reconverge here
}

void lowering::library_function(device_function which,
                                const std::vector<const ptx::variable*>& arguments,
                                const std::vector<const ptx::variable*>& results) {
  struct form {
    std::vector<std::uint64_t> arguments, results;  // their sizes in bytes
  };
  static const form forms[] = {
      {{8, 8}, {4}}, {{8}, {8}}, {{8}, {}}, {{8, 8, 4, 8, 8}, {}}};  // by device_function
  const form& wanted = forms[static_cast<int>(which)];
  if (!std::ranges::equal(arguments, wanted.arguments, {}, &ptx::variable::bytes) ||
      !std::ranges::equal(results, wanted.results, {}, &ptx::variable::bytes))
    throw unsupported{"a call of this form of a function of the device's runtime"};
  library_call site;
  site.which = which;
  call_library(std::move(site), arguments, results);
}

void lowering::runtime_call(const runtime_form& form,
                            const std::vector<const ptx::variable*>& arguments,
                            const std::vector<const ptx::variable*>& results) {
  if (!std::ranges::equal(arguments, form.arguments, {}, &ptx::variable::bytes) ||
      results.size() != 1 || results[0]->bytes != form.result_bytes)
    throw unsupported{"a call of this form of a function of the runtime in kernels"};
  library_call site;
  site.which = device_function::runtime;
  site.of_runtime = form.which;
  call_library(std::move(site), arguments, results);
}

void lowering::call_library(library_call site, const std::vector<const ptx::variable*>& arguments,
                            const std::vector<const ptx::variable*>& results) {
  for (const ptx::variable* v : arguments)
    site.arguments.push_back(static_cast<std::uint32_t>(locals_.at(v->name).second));
  if (!results.empty())
    site.result = static_cast<std::uint32_t>(locals_.at(results[0]->name).second);
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

// Lowers one function of a plan. A function that is called only by address keeps its failure for
// the call that reaches it.
status lower_function(const call_plan& plan, const call_plan::planned& p, program& out) {
  const linked_function& f = *p.function;
  program_function& into = out.functions.emplace_back();
  into.pretty = readable_name(f.function->name);
  into.stack_bytes = call_stack_bytes;
  into.signature = signature_of(f.function->returns, f.function->parameters);
  const std::size_t ops = out.code.size(), tables = out.jump_tables.size();
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
  out.jump_tables.resize(tables);
  into.first_op = static_cast<std::uint32_t>(ops);
  into.failure = std::move(failure);
  return {};
}

// The local memory of the longest chain of calls. Empty if the calls are recursive.
class longest_chain {
 public:
  longest_chain(const call_plan& plan, const program& code) : plan_(plan), code_(code) {
    states_.resize(plan.functions().size());
  }
  // This function is not recursive, because a chain may contain every function of the program.
  std::optional<std::uint64_t> from(std::size_t first) {
    std::vector<std::size_t> chain{first};
    states_[first].running = true;
    while (!chain.empty()) {
      state& s = states_[chain.back()];
      const std::vector<std::size_t>& callees = plan_.functions()[chain.back()].callees;
      if (s.next < callees.size()) {
        state& callee = states_[callees[s.next++]];
        if (callee.running) return std::nullopt;
        if (callee.known)
          s.below = std::max(s.below, callee.bytes);
        else
          callee.running = true, chain.push_back(callees[--s.next]);
        continue;
      }
      s.running = false;
      s.known = true;
      s.bytes = code_.functions[chain.back()].local_bytes + s.below;
      chain.pop_back();
    }
    return states_[first].bytes;
  }

 private:
  struct state {
    bool running = false, known = false;
    std::size_t next = 0;     // the callee to visit next
    std::uint64_t below = 0;  // the most that a callee needs
    std::uint64_t bytes = 0;
  };
  const call_plan& plan_;
  const program& code_;
  std::vector<state> states_;
};

}  // namespace

result<std::unique_ptr<program>> lower(const link_unit& unit, const linked_function& kernel,
                                       watched_by observers) {
  auto out = std::make_unique<program>();
  const bool watched = observers != watched_by::none;
  out->watched = watched;
  out->follows_unset = observers == watched_by::checks;
  const ptx::function& f = *kernel.function;
  out->name = f.name;
  out->pretty = readable_name(f.name);
  const call_plan plan(unit, kernel, watched);
  out->static_shared_bytes = plan.static_shared_bytes();
  out->system_shared_bytes = plan.system_shared_bytes();
  out->shared_gap_bytes = plan.shared_gap_bytes();
  out->shared_variables = plan.shared_variables();
  out->dynamic_shared = plan.dynamic_shared();
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
