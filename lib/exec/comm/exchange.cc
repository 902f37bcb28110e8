#include "exec/comm/exchange.h"

#include <algorithm>
#include <functional>

#include "ops/op.h"

namespace gt::exec::comm {
namespace {

void add_once(unsigned worker, std::vector<unsigned>& to) {
  if (std::find(to.begin(), to.end(), worker) == to.end()) {
    to.push_back(worker);
  }
}

Input make_input(uint32_t source, unsigned worker, const Type& of,
                 const gt::Region& region) {
  Input input;
  input.source = source;
  input.worker = worker;
  input.of = of;
  input.start = region.start;
  input.count = region.count;
  input.region = Runs(of, region.start, region.count);
  input.is_whole = region.count == of.shape;
  return input;
}

uint64_t bytes_of(const Type& of, const gt::Region& region) {
  uint64_t bytes = size_of(of.dtype);
  for (const int64_t size : region.count) bytes *= static_cast<uint64_t>(size);
  return bytes;
}

// Sets Input::own of the inputs that are this worker's own exports.
void link_own(unsigned self, Part& part) {
  for (Target& target : part.targets) {
    for (Input& input : target.inputs) {
      if (input.worker != self) continue;
      size_t e = 0;
      while (part.exports[e].source != input.source) ++e;
      input.own = static_cast<int32_t>(e);
    }
  }
}

// Returns the bytes that the part's targets read from other workers.
uint64_t bytes_read(const Part& part) {
  uint64_t bytes = 0;
  for (const Target& target : part.targets) {
    for (const Input& input : target.inputs) {
      if (input.own < 0) bytes += input.region.bytes();
    }
  }
  return bytes;
}

// Sets the target's program. A program that only copies gets no recipe: its
// bytes are copied straight to their place.
Status set_program(const gt::Op& op, const std::vector<Type>& arguments,
                   const GroupProgram& program, RecipeTable& programs,
                   Target& target) {
  auto recipe = programs.obtain_group(op, arguments, program);
  if (!recipe.ok()) return recipe.error();
  const bool is_alias = recipe.value()->results[0].value <
                        static_cast<int32_t>(recipe.value()->arguments);
  if (!is_alias) {
    target.program = std::move(recipe.value());
    return ok_status();
  }
  const auto a = static_cast<size_t>(recipe.value()->results[0].value);
  target.inputs = {target.inputs[a]};
  return ok_status();
}

// True if these are a set of workers: ascending, each once.
bool is_set(const std::vector<uint32_t>& homes) {
  return std::adjacent_find(homes.begin(), homes.end(),
                            std::greater_equal<>()) == homes.end();
}

// Returns a Sum if step `s` of the plan adds one floating-point tensor from
// each of some workers and does nothing else. With acc= a worker of several
// ranks shows a partial sum of another type than a worker of one rank shows;
// that is more than to add.
std::optional<Sum> find_sum(const ExchangePlan& plan, size_t s, unsigned self) {
  const GroupForm& form = plan.form();
  const ExchangeStep& step = plan.step(s);
  const bool scatters = form.kind == GroupForm::Kind::kSumScatter;
  const bool adds = scatters || form.kind == GroupForm::Kind::kSum;
  // In a plan that sums by chunks, the sum is the step before the last.
  const bool is_whole =
      s + 1 == plan.steps() && (s == 0 || !plan.step(s - 1).is_flat);
  const Type& type = step.exports[0];
  if (!adds || form.combine != "add" || form.is_mean ||
      !(step.is_flat || is_whole) || !is_float(type.dtype) ||
      form.summed(type.dtype) != type.dtype ||
      form.result(type.dtype) != type.dtype || type.elements() == 0 ||
      std::count(step.exports.begin(), step.exports.end(), type) !=
          std::ssize(step.exports) ||
      !is_set(step.source_homes) || step.source_homes != step.target_homes) {
    return std::nullopt;
  }
  const std::vector<uint32_t>& homes = step.source_homes;
  const auto own = std::find(homes.begin(), homes.end(), self);
  if (own == homes.end()) return std::nullopt;
  Sum sum{{homes.begin(), homes.end()}, {}};
  if (!scatters && !step.is_flat) return sum;
  for (uint32_t t = 0; t < homes.size(); ++t) {
    const gt::Region part =
        plan.region(s, t, static_cast<uint32_t>(own - homes.begin()));
    sum.parts.emplace_back(type, part.start, part.count);
  }
  return sum;
}

}  // namespace

std::string list_of(const Workers& workers) {
  std::string out = workers.size() == 1 ? "worker " : "workers ";
  for (size_t i = 0; i < workers.size(); ++i) {
    if (i > 0) out += i + 1 == workers.size() ? " and " : ", ";
    out += std::to_string(workers[i]);
  }
  return out;
}

std::string Exchange::name_of(size_t step, uint32_t source) const {
  if (ranks.empty()) return what;
  return (step == 0 ? "piece of rank " : "part of rank ") +
         std::to_string(ranks[source]);
}

std::shared_ptr<Exchange> make_exchange(const ExchangePlan& plan,
                                        const gt::Op& op, unsigned self,
                                        RecipeTable& programs) {
  auto exchange = std::make_shared<Exchange>();
  exchange->self = self;
  exchange->group = plan.group();
  exchange->ranks = plan.sources();
  for (size_t s = 0; s < plan.steps(); ++s) {
    const ExchangeStep& step = plan.step(s);
    Part& part = exchange->parts.emplace_back();
    for (uint32_t i = 0; i < step.exports.size(); ++i) {
      if (step.source_homes[i] != self) continue;
      Export shown{i, step.exports[i], {}};
      for (const uint32_t reader : plan.readers(s, i)) {
        const unsigned worker = step.target_homes[reader];
        if (worker == self) continue;
        add_once(worker, shown.readers);
        part.bytes_out += bytes_of(step.exports[i], plan.region(s, reader, i));
      }
      part.exports.push_back(std::move(shown));
    }
    for (uint32_t t = 0; t < step.target_homes.size(); ++t) {
      if (step.target_homes[t] != self) continue;
      const ExchangeTask task = plan.task(s, t);
      Target target{t, {}, nullptr, task.output, {}};
      for (const ExchangeRead& read : task.reads) {
        const unsigned owner = step.source_homes[read.source];
        if (owner != self && step.exports[read.source].bytes() > 0) {
          add_once(owner, part.owners);
        }
        target.inputs.push_back(make_input(
            read.source, owner, step.exports[read.source], read.region));
      }
      Status made =
          set_program(op, task.arguments, task.program, programs, target);
      if (!made.ok()) target.lack = made.error().message;
      part.targets.push_back(std::move(target));
    }
    link_own(self, part);
    part.bytes_in = bytes_read(part);
    part.sum = find_sum(plan, s, self);
  }
  return exchange;
}

std::shared_ptr<Exchange> make_exchange(const Transfer& transfer,
                                        unsigned self) {
  auto exchange = std::make_shared<Exchange>();
  exchange->self = self;
  exchange->what = transfer.what;
  Part& part = exchange->parts.emplace_back();
  if (transfer.from == self) {
    Export shown{0, transfer.type, {}};
    for (const unsigned reader : transfer.to) {
      if (reader != self) add_once(reader, shown.readers);
    }
    part.bytes_out = transfer.type.bytes() * shown.readers.size();
    part.exports.push_back(std::move(shown));
  }
  if (std::find(transfer.to.begin(), transfer.to.end(), self) ==
      transfer.to.end()) {
    return exchange;
  }
  Target target{0, {}, nullptr, transfer.type, {}};
  gt::Region whole{{}, transfer.type.shape};
  for (size_t d = 0; d < whole.count.size(); ++d) whole.start.push_back(0);
  target.inputs.push_back(make_input(0, transfer.from, transfer.type, whole));
  part.targets.push_back(std::move(target));
  if (transfer.from != self && transfer.type.bytes() > 0) {
    part.owners.push_back(transfer.from);
  }
  link_own(self, part);
  part.bytes_in = bytes_read(part);
  return exchange;
}

}  // namespace gt::exec::comm
