#include "shard/sum_rests.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/message.h"
#include "ops/table.h"
#include "shard/lines_ahead.h"

namespace gt::shard {
namespace {

bool reads_rest(const LineWork& work) {
  return std::any_of(work.values.begin(), work.values.end(),
                     [](const ShardValuePtr& value) {
                       return value != nullptr && !value->rest.empty();
                     });
}

// Returns true if the line adds two values of one type.
bool adds(const LineWork& work) {
  const std::vector<ShardValuePtr>& values = work.values;
  return work.line.op == "add" && values.size() == 2 && values[0] != nullptr &&
         values[1] != nullptr && values[0]->type == values[1]->type;
}

// Returns true if the line can do the same with rests as with values.
bool keeps_rests(const LineWork& work) {
  const Row& row = *find_op(work.line.op)->row;
  return work.line.results.size() == 1 && work.line.keys.empty() &&
         (adds(work) || row.collective == Collective::kCopy);
}

}  // namespace

// ---- values that have rests -------------------------------------------------

void SumRests::settle(LineWork& work) {
  if (work.at.takes_own_part || !reads_rest(work) || keeps_rests(work)) return;
  for (size_t i = 0; i < work.values.size(); ++i) {
    ShardValuePtr& value = work.values[i];
    if (value == nullptr) continue;
    const std::string name(work.line.operands[i].text);
    if (!value->rest.empty()) add_rest(value, name, work);
    value = values_.find(name);
  }
}

// Adds the rest to the value of that name. All of its names then hold the sum.
// In a trial (line_trial.h) the table may lack some of them.
void SumRests::add_rest(const ShardValuePtr& value, const std::string& name,
                        const LineWork& work) {
  const std::string rest = std::exchange(value->rest, {});
  take_step(name + " = add " + name + " " + rest, name, work);
  for (const std::string& other : std::vector<std::string>(value->names)) {
    if (values_.find(other) != value) continue;
    take_step(other + " = copy " + name, name, work);
  }
  LineContext at = work.at;
  materializer_.drop_invented(rest, at);
}

bool SumRests::write(const LineWork& work) {
  if (work.at.takes_own_part) return false;
  if (reads_rest(work)) {
    join(work);
    return true;
  }
  const std::optional<size_t> away = find_away(work);
  if (away) put_off(work, *away);
  return away.has_value();
}

// Writes a line that adds or copies values, and the same for their rests.
void SumRests::join(const LineWork& work) {
  const std::string result(work.line.results[0].text);
  std::vector<std::string> rests;
  for (const ShardValuePtr& value : work.values) {
    if (!value->rest.empty()) rests.push_back(value->rest);
  }
  const std::string name = name_for(result, work.at);
  LineContext at = work.at;
  at.takes_own_part = true;
  take_(work.line, work.claims, at);
  const ShardValuePtr made = values_.find(result);
  if (!made->rest.empty()) {  // it is a second name of what was copied
    if (values_.find(name) == nullptr) return values_.give_back(name);
    return materializer_.drop_invented(name, at);
  }
  if (rests.size() == 2) {
    take_step(name + " = add " + rests[0] + " " + rests[1], result, work);
  } else if (rests[0] != name) {
    take_step(name + " = copy " + rests[0], result, work);
  }
  made->rest = name;
}

// Returns a name for the rest of what the line binds to `result`: if that name
// alone held a value that has one, the rest's name, so that a sum grows under
// one name.
std::string SumRests::name_for(const std::string& result,
                               const LineContext& at) {
  const ShardValuePtr before = values_.find(result);
  if (before == nullptr || before->rest.empty() || before->names.size() > 1) {
    return values_.new_name(at.space);
  }
  return std::exchange(before->rest, {});
}

// ---- new rests --------------------------------------------------------------

// Returns which operand of the line becomes the rest of its result, as it lies
// on other ranks than those on which the line runs. Nothing: none does.
std::optional<size_t> SumRests::find_away(const LineWork& work) const {
  const bool accumulates =
      work.line.note("mb") != nullptr && work.line.note("grad") != nullptr;
  if (!accumulates || !adds(work) || !keeps_rests(work)) return std::nullopt;
  const Dtype dtype = work.values[0]->type.dtype;
  if (!is_float(dtype) || is_half(dtype)) return std::nullopt;
  const Ranks& home = cluster_.ranks(chooser_.set_of(work));
  const auto is_copy_away = [&](const ShardCopy& copy) {
    return common(cluster_.ranks(copy.layout.set), home).empty();
  };
  const auto is_away = [&](const ShardValuePtr& value) {
    return value->held == nullptr &&
           std::all_of(value->copies.begin(), value->copies.end(),
                       is_copy_away);
  };
  const size_t away = is_away(work.values[0]) ? 0 : 1;
  const bool is_one =
      is_away(work.values[away]) && !is_away(work.values[1 - away]);
  return is_one ? std::optional(away) : std::nullopt;
}

void SumRests::put_off(const LineWork& work, size_t away) {
  const std::string result(work.line.results[0].text);
  const std::string name = name_for(result, work.at);
  take_step(name + " = copy " + std::string(work.line.operands[away].text),
            result, work);
  Line line = work.line;
  line.op = "copy";
  line.operands = {work.line.operands[1 - away]};
  take_(line, work.claims, work.at);
  values_.find(result)->rest = name;
}

// Rewrites a line that serves another. It has no signal, so it runs where its
// first operand is.
void SumRests::take_step(const std::string& text, const std::string& of,
                         const LineWork& work) const {
  Line made;
  std::string whole = text;
  for (const Note& note : shared_notes(work.line)) {
    if (note.key != "signal") append_note(whole, note);
  }
  whole += " #why=" + quote("the rest of " + of);
  GT_CHECK(parse_line(whole, made).ok());
  LineContext at = context_of(made);
  at.place = work.at.place;
  at.depth = work.at.depth + 1;
  take_(made, {}, at);
}

}  // namespace gt::shard
