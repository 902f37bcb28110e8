#include "shard/partitioner.h"

#include <algorithm>

#include "ops/table.h"
#include "spmd/placed.h"
#include "stream/marks.h"

namespace gt::shard {
namespace {

// True if the line binds a name that may look like one of ours.
bool looks_invented(const Line& line) {
  return std::ranges::any_of(line.results, [](const Name& name) {
    return name.text.find("_s") != name.text.npos;
  });
}

}  // namespace

Partitioner::Partitioner(const Config& config,
                         std::function<void(const std::string&)> explain,
                         PlanCache& plans)
    : config_(config),
      cluster_(config.mesh()),
      plans_(plans),
      chooser_(config, cluster_, plans, explain != nullptr),
      explanation_(config, cluster_, std::move(explain)),
      lines_(config, cluster_, chooser_, explanation_) {}

Status Partitioner::take(std::string_view text, std::string& out,
                         std::string place, LinesAhead::Read ahead) {
  if (seen_ahead_ > 0) --seen_ahead_;
  Line line;
  if (Status s = parse_line(text, line); !s.ok()) {
    ++messages_;
    return s;
  }
  const bool is_instruction =
      line.kind == Line::Kind::kInstruction && !config_.is_empty();
  const bool is_own = is_instruction &&
                      (!is_placed(line) || !check_mixed(line).ok()) &&
                      !is_declaration(statement_of(line.op));
  LineContext at = context_of(line);
  at.place = std::move(place);
  space_ = at.space;
  if (is_instruction) {
    if (looks_invented(line)) lines_.writer().sums().release();
    lines_.respect(line);
  }
  LinesAhead lines_ahead(std::move(ahead));
  if (lines_ahead.is_there()) at.ahead = &lines_ahead;
  const Status done = is_own ? rewrite(line, text, std::move(at))
                             : pass(line, text, std::move(at));
  seen_ahead_ = std::max(seen_ahead_, lines_ahead.seen());
  if (!done.ok() || (is_own && explanation_.is_wanted())) ++messages_;
  out += lines_.writer().text();
  lines_.writer().text().clear();
  return done;
}

Status Partitioner::rewrite(Line& line, std::string_view text, LineContext at) {
  const Claims claims = take_claims(line);
  plans_.trim();
  const Status done = lines_.take(line, text, claims, at);
  explanation_.flush();
  return done;
}

Status Partitioner::pass(const Line& line, std::string_view text,
                         LineContext at) {
  if (statement_of(line.op) == Statement::kSave) lines_.create_loads(at);
  if (const std::string_view sync = sync_of(text);
      !sync.empty() && !counts_blocks(sync)) {
    space_ = outer_space(sync.substr(kSyncHead.size()));
    if (!space_.empty()) space_ += '/';
    at.space = space_;
    lines_.create_loads_once(at);
  }
  lines_.writer().pass(line, text);
  if (!is_placed(line)) return ok_status();
  has_passed_ranks_ = true;
  if (Status s = check_mixed(line); !s.ok()) return s;
  for (const Name& name : line.results) {
    if (lines_.give_away(name.text)) continue;
    return Error{"'" + std::string(name.text) +
                     "' was bound without ranks, and gt-shard gave it some; "
                     "free it first, or take another name",
                 name.column};
  }
  return ok_status();
}

void Partitioner::finish(std::string& out) {
  LineContext at{.space = space_};
  lines_.finish(at);
  explanation_.flush();
  out += lines_.writer().text_behind_sums();
  lines_.writer().text().clear();
}

void Partitioner::state(std::string& text, const PlaceVisitor& /*visit*/) {
  text.clear();
  lines_.describe(text);
}

}  // namespace gt::shard
