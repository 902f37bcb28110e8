#include "shard/line_rewriter.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/message.h"
#include "ops/shape_rules.h"
#include "ops/suggest.h"
#include "ops/table.h"
#include "shard/expansion.h"
#include "shard/line_trial.h"
#include "shard/recompute.h"
#include "spmd/placed.h"
#include "spmd/stated.h"
#include "stream/ranks.h"

namespace gt::shard {
namespace {

constexpr size_t kMaxExpansions = 6;  // how deep expansions may be nested

// Returns true if the results are created values in the sense of
// ShardValue::is_source because the first operand is one: a weight stays one
// after an optimizer's step, a copy or a cast.
bool makes_source(const LineWork& work) {
  if (work.call.op->row->lineage == Lineage::kNew) return false;
  const auto first =
      std::find_if(work.values.begin(), work.values.end(),
                   [](const ShardValuePtr& value) { return value != nullptr; });
  return first != work.values.end() && (*first)->is_source;
}

// Replaces the ranges of a slice in dimensions that are cut by ":", since each
// rank takes all of its part there.
void take_all_of_parts(const Call& call, const Layout& layout,
                       std::vector<std::string>& operands) {
  if (call.op->name != "slice") return;
  for (const AxisCut& cut : layout.cuts) {
    const auto i = static_cast<size_t>(cut.dim) + 1;
    if (i >= call.arguments.size()) continue;
    const Argument& a = call.arguments[i];
    if (a.role == Role::kRange) {
      operands[static_cast<size_t>(a.operand)] = ":";
    }
  }
}

// By argument: whether another one reads the same value in another layout.
std::vector<bool> read_otherwise(const LineWork& work) {
  const Call& call = work.call;
  const std::vector<Layout>& layouts = work.plan().arguments;
  std::vector<std::pair<const ShardValue*, size_t>> reads;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    if (!is_tensor(call.arguments[i])) continue;
    reads.emplace_back(work.value(i).get(), i);
  }
  std::sort(reads.begin(), reads.end());
  std::vector<bool> out(call.arguments.size());
  for (size_t begin = 0, end = 0; begin < reads.size(); begin = end) {
    bool differs = false;
    while (end < reads.size() && reads[end].first == reads[begin].first) {
      differs |=
          !(layouts[reads[end++].second] == layouts[reads[begin].second]);
    }
    for (size_t k = begin; k < end; ++k) out[reads[k].second] = differs;
  }
  return out;
}

}  // namespace

LineRewriter::LineRewriter(const Config& config, Cluster& cluster,
                           LayoutChooser& chooser, Explanation& explanation)
    : config_(config),
      cluster_(cluster),
      chooser_(chooser),
      explanation_(explanation),
      writer_(config, cluster, values_),
      materializer_(config, cluster, values_, writer_, explanation),
      epilogue_(config, cluster, values_, writer_, materializer_),
      failed_(values_, writer_, materializer_),
      outputs_(cluster, values_, writer_, materializer_, waiting_),
      precision_(config, values_, chooser, materializer_,
                 [this](const Line& line, const LineContext& at) {
                   GT_CHECK(take(line, "", {}, at).ok());
                 }),
      rests_(cluster, values_, chooser, materializer_,
             [this](const Line& line, const Claims& claims,
                    const LineContext& at) {
               GT_CHECK(take(line, "", claims, at).ok());
             }) {}

LineRewriter::LineRewriter(const LineRewriter& tried,
                           const std::vector<std::string>& names,
                           Explanation& silence)
    : LineRewriter(tried.config_, tried.cluster_, tried.chooser_, silence) {
  values_ = tried.values_.copies_of(names);
  waiting_ = tried.waiting_;
  is_trial_ = true;
  writer_.sums().hold_none();
}

Status LineRewriter::take(const Line& line, std::string_view text,
                          const Claims& claims, const LineContext& at) {
  LineWork work{line, text, claims, at};
  if (is_placed(line)) {
    return failed_.reject_mixed(line, check_mixed(line).error(), work.at);
  }
  const Statement statement = statement_of(line.op);
  Status known = find_values(work);
  if (known.ok() && statement == Statement::kFail) {
    known = FailedLines::check(line);
  }
  if (!known.ok()) return failed_.reject(line, known.error(), work.at);
  if (statement == Statement::kFree) {
    Call call;
    if (Status s = bind_free(line, call); !s.ok()) {
      return failed_.reject(line, s.error(), work.at);
    }
    outputs_.release(line, work.at);
    return ok_status();
  }
  if (statement == Statement::kFail || FailedLines::reads_failure(work)) {
    failed_.spread(work);
    return ok_status();
  }
  rests_.settle(work);
  const Status bound = bind(work);
  if (!bound.ok()) return failed_.reject(line, bound.error(), work.at);
  has_rewritten_ = true;
  if (is_output(statement)) {
    outputs_.write(work);
  } else if (WaitingLines::can_wait(work)) {
    wait(work);
  } else if (!rests_.write(work) && !precision_.write(work)) {
    run(work);
  }
  materializer_.write_frees();
  return ok_status();
}

// Looks up the values of the operands. An unknown op is reported before an
// unknown name, as gt-emit and the workers do.
Status LineRewriter::find_values(LineWork& work) const {
  if (Status s = check_emitted(work.line); !s.ok()) return s;
  if (find_op(work.line.op) == nullptr) return unknown_op(work.line);
  for (size_t i = 0; i < work.line.operands.size(); ++i) {
    const Operand& o = work.line.operands[i];
    work.values.push_back(is_name(o) ? values_.find(o.text) : nullptr);
    if (is_name(o) && work.values.back() == nullptr) {
      return unknown_name(work.line, i, {}, values_.names());
    }
  }
  return ok_status();
}

// Binds the line to its op and to the types of its operands, and finds what the
// config says about it.
Status LineRewriter::bind(LineWork& work) const {
  std::vector<const Type*> types;
  for (const ShardValuePtr& value : work.values) {
    types.push_back(value == nullptr ? nullptr : &value->type);
  }
  if (Status s = gt::bind(work.line, types, work.call); !s.ok()) return s;
  if (Status s = chooser_.find_scope(work); !s.ok()) return s;
  if (work.at.is_operand) work.scope.results.reset();
  note_recompute(config_, work);
  work.wish = wished_cuts(work.claims);
  work.at.regathers = work.scope.regather.value_or(config_.regather());
  return ok_status();
}

void LineRewriter::wait(const LineWork& work) {
  LineContext at = work.at;
  const ShardValuePtr value = waiting_.make(work, chooser_, cluster_);
  value->is_gradient = makes_gradient(work);
  const std::string name(work.line.results[0].text);
  materializer_.keep_for_readers(name, at);
  materializer_.unbind(name, at);
  values_.bind(name, value);
}

void LineRewriter::run(LineWork& work) {
  cut_whole_weight(work);
  chooser_.choose(work);
  if (std::string narrow = precision_.write_view(work); !narrow.empty()) {
    wait(work);
    return precision_.keep_view(values_.find(work.line.results[0].text),
                                std::move(narrow));
  }
  LineTrial::look_ahead(*this, work);
  explanation_.add_choice(work);
  carry_out(work);
}

// A weight that something else has read before its first product, as a print,
// was written whole. From this product on it is cut as it would have been.
void LineRewriter::cut_whole_weight(LineWork& work) {
  const std::optional<Layout> cut = chooser_.cut_of_whole_weight(work);
  if (!cut) return;
  const auto weight = static_cast<size_t>(work.call.op->row->weight_operand);
  materializer_.change(work.value(weight), *cut, "the config says so", work.at);
}

void LineRewriter::carry_out(LineWork& work) {
  const Collective collective = work.call.op->row->collective;
  if (collective == Collective::kCopy && !work.pin &&
      work.line.note("grad") == nullptr && work.values[0] != nullptr &&
      work.plan().moving == 0) {
    return share(work);
  }
  // Only the whole shows which dimensions a squeeze drops: a dimension of a
  // piece may have size 1 although that of the whole does not.
  if (work.line.op == "squeeze" && !work.plan().results[0].cuts.empty()) {
    return reshape_instead(work);
  }
  const size_t begin = writer_.text().size();
  std::string_view expanded;
  note_gathered(work);
  if (auto ring = ring_of(work)) {
    write_in_ring(work, *ring);
    epilogue_.settle(work);
  } else if (is_better_expanded(work)) {
    expand(work);
    epilogue_.settle(work);
    expanded = std::string_view(writer_.text()).substr(begin);
  } else if (const auto chunking = chunking_of(work)) {
    write_in_chunks(work, *chunking);
    epilogue_.settle(work);
  } else {
    write_planned(work);
  }
  explanation_.add_result(work, expanded,
                          work.line.results.empty()
                              ? nullptr
                              : values_.find(work.line.results[0].text));
}

// ---- as planned -------------------------------------------------------------

// Makes the result another name of the operand's value.
void LineRewriter::share(LineWork& work) {
  const ShardValuePtr value = work.values[0];
  const std::string name(work.line.results[0].text);
  if (value->held != nullptr) materializer_.create_default(value, work.at);
  if (values_.find(name) == value) return;  // x = copy x
  materializer_.keep_for_readers(name, work.at);
  writer_.write(work.line, {value->own_name()},
                {value->layout().set, "", "", ""});
  writer_.hold(name, value->layout(), value->type);
  writer_.end_line();
  materializer_.unbind(name, work.at);
  values_.bind(name, value);
}

void LineRewriter::reshape_instead(LineWork& work) {
  Line line = work.line;
  const std::string shape = list_text(work.call.results[0].shape);
  line.op = "reshape";
  line.keys = {{"shape", shape, 0}};
  GT_CHECK(take(line, "", work.claims, work.at).ok());
}

// Writes the lines that bring the operands, from the argument `first` on, into
// the layouts of the plan, and returns the names of the registers. If the line
// reads a value in several layouts, the value's own registers are not changed.
std::vector<std::string> LineRewriter::fetch_operands(LineWork& work,
                                                      size_t first) {
  const Call& call = work.call;
  const Plan& plan = work.plan();
  const std::vector<bool> shared = read_otherwise(work);
  const std::string why = std::string(work.line.op) + " needs it so";
  std::vector<std::string> operands(work.line.operands.size());
  for (size_t i = first; i < call.arguments.size(); ++i) {
    if (!is_tensor(call.arguments[i])) continue;
    operands[static_cast<size_t>(call.arguments[i].operand)] =
        materializer_.fetch(work.value(i), plan.arguments[i], shared[i], why,
                            work.at);
  }
  return operands;
}

void LineRewriter::write_planned(LineWork& work) {
  const Call& call = work.call;
  const Plan& plan = work.plan();
  std::vector<std::string> operands = fetch_operands(work, 0);
  materializer_.keep_for_readers(work);
  take_all_of_parts(call, plan.arguments.empty() ? Layout{} : plan.arguments[0],
                    operands);
  std::vector<Type> types(call.results.begin(), call.results.end());
  Line line = epilogue_.without_early_notes(work);
  if (plan.sums_halves) types = epilogue_.widen(work, line, operands);
  Placing how = placing_of(cluster_, call, plan);
  if (work.scope.compile.value_or(false) &&
      work.line.note("compile") == nullptr) {
    how.notes += " #compile";
  }
  writer_.write(line, operands, how,
                work_seconds(cluster_, config_.machine(), call, plan));
  planned_seconds_ += plan.seconds;
  const bool is_source = makes_source(work);
  materializer_.drop_passing(work);
  const bool goes_on = trial_ != nullptr && trial_->reads_sum(work);
  bind_results(work, types, is_source);
  waiting_.note_sum(work);
  if (goes_on) trial_->follow(values_.find(work.line.results[0].text));
  epilogue_.settle_written(work);
}

std::optional<Ring> LineRewriter::ring_of(LineWork& work) {
  if (!work.scope.ring.value_or(config_.ring())) return std::nullopt;
  FoundRing found = find_ring(cluster_, work, [&] {
    materializer_.create_operands(work);
    return &chooser_.others(work);
  });
  explanation_.add_ring(found.how);
  return std::move(found.ring);
}

void LineRewriter::write_in_ring(LineWork& work, Ring& ring) {
  work.planned = &ring.planned;
  const std::vector<std::string> operands = fetch_operands(work, 0);
  materializer_.keep_for_readers(work);
  RingWriter(work, epilogue_.without_early_notes(work), ring.axis, operands,
             cluster_, config_.machine(), values_, writer_)
      .write();
  materializer_.drop_passing(work);
  bind_results(work, {work.call.results.begin(), work.call.results.end()},
               false);
}

void LineRewriter::bind_results(LineWork& work, const std::vector<Type>& types,
                                bool is_source) {
  const Plan& plan = work.plan();
  const auto& results = work.line.results;
  for (size_t r = 0; r < results.size(); ++r) {
    writer_.hold(std::string(results[r].text), plan.results[r], types[r]);
  }
  writer_.end_line();
  for (size_t r = 0; r < results.size(); ++r) {
    const ShardValuePtr made = bind_result(std::string(results[r].text),
                                           types[r], plan.results[r], work.at);
    made->is_source = is_source;
    made->is_gradient = makes_gradient(work);
    made->sum_dtype = work.sum_dtype;
  }
}

// Lets the name hold the tensor that was just written in this layout.
ShardValuePtr LineRewriter::bind_result(const std::string& name,
                                        const Type& type, const Layout& layout,
                                        LineContext& at) {
  const auto made = std::make_shared<ShardValue>();
  made->type = type;
  made->copies = {{layout, ""}};
  leave(name, layout.set);
  materializer_.unbind(name, at);
  values_.bind(name, made);
  return made;
}

// Frees the pieces of the name's old value on ranks where the line that binds
// the name anew does not run.
void LineRewriter::leave(const std::string& name, uint32_t set) {
  const ShardValuePtr before = values_.find(name);
  if (before == nullptr || before->copies.empty()) return;
  const Ranks gone =
      without(cluster_.ranks(before->layout().set), cluster_.ranks(set));
  if (!gone.empty()) writer_.write_free(name, gone);
}

// ---- as the op's expansion --------------------------------------------------

// Returns true if the op's expansion sends fewer bytes than the moves of the
// operands would. For example, the sums and maxima of a softmax over a cut axis
// are small. Bytes are compared and not seconds, since a tensor that is made
// whole here is whole in all lines that follow.
bool LineRewriter::is_better_expanded(const LineWork& work) {
  if (work.plan().bytes == 0 || work.call.op->is_primitive() ||
      work.call.has_key("part") || work.at.depth >= kMaxExpansions) {
    return false;
  }
  std::optional<double>& known = work.planned->bytes_expanded;
  if (!known) known = bytes_expanded(work);
  return *known < work.plan().bytes;
}

double LineRewriter::bytes_expanded(const LineWork& work) const {
  Explanation silence(config_, cluster_, nullptr);
  LineRewriter trial(*this, names_of(work.line), silence);
  trial.expand(work);
  return trial.writer_.costs().bytes;
}

// Rewrites each step of the expansion by itself. A result whose name the line
// also reads gets its name at the end.
void LineRewriter::expand(const LineWork& work) {
  LineContext at = work.at;
  at.passing.clear();
  ++at.depth;
  Expansion expansion(work.line, work.call);
  for (size_t s = 0; s < expansion.size(); ++s) {
    const Expansion::NamedStep step =
        expansion.step(s, [&] { return values_.new_name(at.space); });
    GT_CHECK(take(step.line, "", {}, at).ok());
    for (const std::string& name : step.dead) drop_temporaries({name}, at);
  }
  for (const auto& [made, name] : expansion.renamed()) {
    rename(made, name, expansion.ends_history(), at);
  }
  materializer_.write_frees();
}

// Drops values that only names of ours hold.
void LineRewriter::drop_temporaries(const std::vector<std::string>& names,
                                    LineContext& at) {
  for (const std::string& name : names) materializer_.drop_invented(name, at);
  materializer_.write_frees();
}

void LineRewriter::rename(const std::string& from, const std::string& to,
                          bool detaches, LineContext& at) {
  const ShardValuePtr value = values_.find(from);
  if (detaches && value->held) materializer_.create_default(value, at);
  materializer_.keep_for_readers(to, at);
  if (value->held == nullptr) {
    writer_.write_local(detaches ? "detach" : "copy", to, from, value->layout(),
                        value->type, at.notes);
  }
  materializer_.unbind(to, at);
  values_.bind(to, value);
  materializer_.drop_invented(from, at);
}

// ---- between lines ----------------------------------------------------------

void LineRewriter::respect(const Line& line) {
  for (const Name& name : line.results) {
    size_t number = 0;
    if (!values_.take_over(name.text, number)) continue;
    values_.visit(number, [&](std::string& ours, const Layout& layout,
                              const Type& type) {
      const std::string to = values_.new_name(ours.substr(0, ours.rfind("_s")));
      writer_.write_local("copy", to, ours, layout, type, "");
      writer_.write_free(ours, cluster_.ranks(layout.set));
      ours = to;
    });
  }
}

void LineRewriter::create_loads(LineContext& at) {
  outputs_.create_loads(waiting_.take_all_loads(), at);
}

void LineRewriter::create_loads_once(LineContext& at) {
  outputs_.create_loads(waiting_.take_loads_once(at.space), at);
}

// Visits the values of all names, and before each the waiting lines that it
// would have read.
void LineRewriter::finish(LineContext& at) {
  const auto visit = [&](const auto& self, const ShardValuePtr& value) -> void {
    if (value == nullptr || value->held == nullptr) return;
    for (const ShardValuePtr& operand :
         std::vector<ShardValuePtr>(value->held->operands)) {
      self(self, operand);
    }
    materializer_.create_unread(value, at);
  };
  std::set<std::string> names;
  for (const std::string_view name : values_.names()) names.emplace(name);
  for (const std::string& name : names) visit(visit, values_.find(name));
  materializer_.write_frees();
}

void LineRewriter::describe(std::string& out) const {
  values_.describe(cluster_, out);
  waiting_.describe(cluster_, out);
  gathered_.describe("gathered", cluster_, out);
  writer_.describe(out);
}

}  // namespace gt::shard
