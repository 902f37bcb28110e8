#include "shard/local_lines.h"

#include "base/message.h"
#include "shard/plan.h"

namespace gt::shard {
namespace {

// Returns the plan of a line that reads and makes what its ranks have.
Plan local_plan(const Call& call, uint32_t set) {
  Plan plan;
  plan.arguments.assign(call.arguments.size(), Layout{set, 0, {}});
  plan.results.assign(call.results.size(), Layout{set, 0, {}});
  return plan;
}

}  // namespace

LocalLines::LocalLines(Cluster& cluster, const Machine& machine,
                       ValueTable& values, PlacedWriter& writer,
                       const LineContext& at, const std::string& why)
    : cluster_(cluster),
      machine_(machine),
      values_(values),
      writer_(writer),
      space_(at.space),
      notes_(at.notes + " #local #why=" + quote(why)) {}

std::string LocalLines::new_name() {
  std::string name = values_.new_name(space_);
  ours_[name];
  return name;
}

void LocalLines::bind(const Line& line, Call& call) const {
  std::vector<const Type*> types;
  for (const Operand& o : line.operands) {
    types.push_back(is_name(o) ? &types_.at(std::string(o.text)) : nullptr);
  }
  GT_CHECK(gt::bind(line, types, call).ok());
}

void LocalLines::write(const std::string& text, const Ranks& ranks,
                       const std::string& notes) {
  const std::string whole = text + notes_ + notes;
  Line line;
  GT_CHECK(parse_line(whole, line).ok());
  Call call;
  bind(line, call);
  const uint32_t set = cluster_.set_of(ranks);
  std::vector<std::string> operands;
  for (const Operand& o : line.operands) {
    operands.emplace_back(is_name(o) ? o.text : "");
  }
  writer_.write(line, operands, {set, "", "", ""},
                work_seconds(cluster_, machine_, call, local_plan(call, set)));
  for (size_t r = 0; r < line.results.size(); ++r) {
    const std::string name(line.results[r].text);
    types_[name] = call.results[r];
    writer_.hold(name, Layout{set, 0, {}}, call.results[r]);
    const auto own = ours_.find(name);
    if (own != ours_.end()) own->second = together(own->second, ranks);
  }
  writer_.end_line();
}

std::string LocalLines::make(const std::string& expression,
                             const Ranks& ranks) {
  std::string name = new_name();
  write(name + " = " + expression, ranks);
  return name;
}

void LocalLines::copy(const std::string& to, const Ranks& targets,
                      const std::string& from, const Ranks& sources) {
  const Type piece = types_.at(from);
  types_[to] = piece;
  writer_.write_copy(to, targets, from, sources, piece, notes_);
  ours_[to] = together(ours_[to], ascending(targets));
}

void LocalLines::drop(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const auto own = ours_.find(name);
    if (own == ours_.end()) continue;
    writer_.write_free(name, own->second);
    values_.give_back(name);
    types_.erase(name);
    ours_.erase(own);
  }
}

double LocalLines::seconds_of(const std::string& text) const {
  Line line;
  GT_CHECK(parse_line(text, line).ok());
  Call call;
  bind(line, call);
  return work_seconds(cluster_, machine_, call, local_plan(call, 0));
}

}  // namespace gt::shard
