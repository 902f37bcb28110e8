#include "shard/partitioner.h"

#include "ops/table.h"
#include "spmd/labels.h"
#include "spmd/placed.h"
#include "stream/marks.h"

namespace gt::shard {
namespace {

// Returns the name space of the line's names: "c1/" for "c1/w".
std::string space_of(const Line& line) {
  const std::string_view name = space_name(line);
  return std::string(name.substr(0, name.rfind('/') + 1));
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

Status Partitioner::take(std::string_view text, std::string& out) {
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
  at_.space = space_of(line);
  if (is_instruction) lines_.respect(line);
  const Status done = is_own ? rewrite(line, text) : pass(line, text);
  if (!done.ok() || (is_own && explanation_.is_wanted())) ++messages_;
  out += lines_.writer().text();
  lines_.writer().text().clear();
  return done;
}

Status Partitioner::rewrite(Line& line, std::string_view text) {
  at_.notes.clear();
  for (const Note& note : shared_notes(line)) append_note(at_.notes, note);
  const Claims claims = take_claims(line);
  plans_.trim();
  const Status done = lines_.take(line, text, claims, at_);
  explanation_.flush();
  return done;
}

Status Partitioner::pass(const Line& line, std::string_view text) {
  at_.notes.clear();
  if (statement_of(line.op) == Statement::kSave) lines_.create_loads(at_);
  if (const std::string_view sync = sync_of(text);
      !sync.empty() && !counts_blocks(sync)) {
    at_.space = outer_space(sync.substr(kSyncHead.size()));
    if (!at_.space.empty()) at_.space += '/';
    lines_.create_loads_once(at_);
  }
  lines_.writer().pass(line, text);
  if (!is_placed(line)) return ok_status();
  has_passed_ranks_ = true;
  if (Status s = check_mixed(line); !s.ok()) return s;
  for (const Name& name : line.results) {
    if (lines_.values().find(name.text) == nullptr) continue;
    return Error{"'" + std::string(name.text) +
                     "' was bound without ranks, and gt-shard gave it some; "
                     "free it first, or take another name",
                 name.column};
  }
  return ok_status();
}

void Partitioner::finish(std::string& out) {
  at_.notes.clear();
  lines_.finish(at_);
  explanation_.flush();
  out += lines_.writer().text();
  lines_.writer().text().clear();
}

void Partitioner::state(std::string& text, const PlaceVisitor& /*visit*/) {
  text.clear();
  lines_.describe(text);
}

}  // namespace gt::shard
