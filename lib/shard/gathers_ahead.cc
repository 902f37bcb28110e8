#include "shard/gathers_ahead.h"

#include <algorithm>
#include <utility>

#include "ops/table.h"
#include "stream/ranks.h"

namespace gt::shard {
namespace {

bool reads(const Line& line, std::string_view name) {
  return std::any_of(line.operands.begin(), line.operands.end(),
                     [&](const Operand& o) { return o.text == name; });
}

// Returns true if the line binds or frees the name.
bool changes(const Line& line, std::string_view name) {
  const bool binds = std::any_of(line.results.begin(), line.results.end(),
                                 [&](const Name& n) { return n.text == name; });
  return binds ||
         (statement_of(line.op) == Statement::kFree && reads(line, name));
}

// Returns true if the gather must stay behind the line.
bool needs(const Line& gather, const Line& line) {
  const std::string_view made = gather.results[0].text;
  return changes(line, gather.operands[0].text) || changes(line, made) ||
         reads(line, made);
}

}  // namespace

void GathersAhead::take(std::string_view lines, std::string& out) {
  round_ = {};
  take_lines(lines, out);
}

void GathersAhead::take_round(std::string_view lines, std::string& out) {
  std::string before = state();
  if (lines == round_.lines && before == round_.before &&
      before == round_.after) {
    out += round_.out;
    return;
  }
  std::string made;
  take_lines(lines, made);
  out += made;
  round_ = {std::string(lines), std::move(before), std::move(made), state()};
}

void GathersAhead::finish(std::string& out) {
  release(out);
  holds_ = false;
}

void GathersAhead::take_line(std::string_view text, std::string& out) {
  Held& last = held_.emplace_back();
  last.text = text;
  const bool is_line = parse_line(last.text, last.line).ok() &&
                       last.line.kind == Line::Kind::kInstruction;
  if (!is_line) {
    held_.pop_back();
    finish(out);
    out += text;
    out += '\n';
    return;
  }
  last.where = line_ranks(last.line);
  if (!last.where.ok() || ends_order(last.line)) return finish(out);
  if (collective_of(last.line.op) == Collective::kAllGather) {
    const auto end = std::prev(held_.end());
    const auto stays =
        std::find_if(std::make_reverse_iterator(end), held_.rend(),
                     [&](const Held& h) { return needs(last.line, h.line); });
    for (auto it = held_.begin(); it != stays.base(); ++it) {
      pass(it->text, it->line, it->where, out);
    }
    pass(last.text, last.line, last.where, out);
    for (auto it = stays.base(); it != end; ++it) {
      pass(it->text, it->line, it->where, out);
    }
    held_.clear();
    holds_ = true;
  } else if (!holds_ || held_.size() > kMostLines) {
    finish(out);
  }
}

void GathersAhead::release(std::string& out) {
  for (const Held& held : held_) pass(held.text, held.line, held.where, out);
  held_.clear();
}

std::string GathersAhead::state() const {
  std::string out = holds_ ? "+" : "";
  for (const Held& held : held_) out += held.text + '\n';
  return out;
}

}  // namespace gt::shard
