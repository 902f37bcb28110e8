#include "shard/placed_writer.h"

#include <algorithm>

#include "ops/families.h"
#include "ops/part.h"
#include "ops/shape_rules.h"
#include "ops/table.h"
#include "stream/notes.h"
#include "stream/ranks.h"

namespace gt::shard {

Placing placing_of(const Cluster& cluster, const Call& call, const Plan& plan) {
  Placing how;
  if (!plan.results.empty()) how.set = plan.results[0].set;
  const Op& op = *call.op;
  const int split = op.key_index("split");
  if (split < 0 || plan.results.empty()) return how;
  const int subject = op.row->part_operand;
  const auto operand = static_cast<size_t>(std::max(subject, 0));
  const Layout& layout =
      subject < 0 ? plan.results[0] : plan.arguments[operand];
  const Shape& whole =
      subject < 0 ? call.results[0].shape : call.type(operand).shape;
  if (layout.cuts.empty()) return how;
  // The type operand of a creation has the whole's shape, so it needs no
  // shape=.
  const bool creates = op.family == &kCreation;
  const bool sized = states_sizes(op);
  if (!creates && !sized && !plan.needs_split) return how;
  how.keys = " split=" + cluster.split_text(layout);
  if (sized) {
    how.shape = list_text(whole);
  } else if (!creates) {
    how.keys += " shape=" + list_text(whole);
  }
  return how;
}

void PlacedWriter::pass(const Line& line, std::string_view text) {
  sums_.release();
  const Statement statement = statement_of(line.op);
  const bool declares = is_declaration(statement);
  if (mesh_ == Current::kConfig && (declares || is_placed(line))) {
    text_ += "endmesh\n";
    mesh_ = Current::kInput;
  }
  if (declares) {
    const bool is_same =
        split_notes(text).text == "mesh " + config_.mesh().describe();
    mesh_ = is_same ? Current::kSame : Current::kInput;
  }
  text_ += text;
  text_ += '\n';
}

void PlacedWriter::declare_mesh() {
  if (mesh_ != Current::kInput) return;
  mesh_ = Current::kConfig;
  text_ += "mesh " + config_.mesh().describe() + "\n";
}

// ---- lines ------------------------------------------------------------------

void PlacedWriter::write(const Line& line,
                         const std::vector<std::string>& operands,
                         const Placing& how, double seconds) {
  declare_mesh();
  for (const std::string& operand : operands) sums_.touch(operand);
  for (const Name& name : line.results) sums_.touch(name.text);
  compute(seconds);
  const std::string& ranks = cluster_.ranks_text(how.set);
  Line placed = line;
  for (Name& name : placed.results) name.ranks = ranks;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (operands[i].empty()) continue;
    Operand& operand = placed.operands[i];
    operand.text = operands[i];
    if (operand.kind == Operand::Kind::kName) operand.ranks = ranks;
  }
  for (Key& key : placed.keys) {
    if (key.key == "shape" && !how.shape.empty()) key.value = how.shape;
  }
  append_instruction(text_, placed);
  text_ += how.keys + how.notes;
  append_notes(text_, placed);
  text_ += '\n';
}

// Sums that were held back may leave first.
void PlacedWriter::compute(double seconds) {
  sums_.compute(seconds);
  costs_.seconds += seconds;
}

// The moves may leave the tensor on ranks that are not among the target's. It
// is freed there.
void PlacedWriter::write_moves(const std::vector<Move>& moves,
                               const Type& whole, const std::string& to,
                               uint32_t set, std::string from,
                               const std::string& notes,
                               const std::string& last_note,
                               const std::string& why) {
  declare_mesh();
  sums_.touch(from);
  sums_.touch(to);
  Ranks left;
  for (const Move& move : moves) {
    const Ranks& ranks = cluster_.ranks(move.after.set);
    text_ += to + "@" + cluster_.ranks_text(move.after.set) + " = " +
             std::string(move.op) + " " + from + "@" +
             source_ranks(move, cluster_) +
             keys_of(move, cluster_, whole.shape) + notes +
             (&move == &moves.back() ? last_note : "") + " #why=" + quote(why) +
             "\n";
    hold(to, move.after, whole);
    end_line();
    from = to;
    left = together(left, without(ranks, cluster_.ranks(set)));
    ShardCosts::Traffic& traffic = costs_.traffic[std::string(move.op)];
    ++traffic.lines;
    traffic.sent.add(move.before.set, cluster_.ranks(move.before.set),
                     sent_.bytes(move, whole));
    costs_.bytes += move.bytes;
    costs_.seconds += move.seconds;
    sums_.note_sent(move.after.set, to, move.bytes > 0 ? move.seconds : 0);
  }
  if (!left.empty()) write_free(to, left);
}

void PlacedWriter::write_copy(const std::string& to, const Ranks& targets,
                              const std::string& from, const Ranks& sources,
                              const Type& piece, const std::string& notes) {
  declare_mesh();
  sums_.touch(from);
  sums_.touch(to);
  text_ += to + "@" + to_string(targets) + " = copy " + from + "@" +
           to_string(sources) + notes + "\n";
  const auto bytes = static_cast<uint64_t>(piece.bytes());
  memory_.bind(to, ascending(targets), bytes);
  end_line();
  ShardCosts::Traffic& traffic = costs_.traffic["copy"];
  ++traffic.lines;
  for (size_t i = 0; i < targets.size(); ++i) {
    if (sources[i] == targets[i]) continue;
    traffic.sent.add(sources[i], static_cast<double>(bytes));
  }
  costs_.bytes += static_cast<double>(bytes);
  const Link link = link_of(config_.machine(), [&](int64_t n) {
    return is_within(sources, targets, n);
  });
  costs_.seconds += message_seconds(link, static_cast<double>(bytes));
}

void PlacedWriter::write_local(std::string_view op, const std::string& to,
                               const std::string& from, const Layout& layout,
                               const Type& type,
                               const std::string& operands_and_notes,
                               double seconds) {
  declare_mesh();
  sums_.touch(from);
  sums_.touch(to);
  compute(seconds);
  const std::string ranks = "@" + cluster_.ranks_text(layout.set);
  text_ += to + ranks + " = " + std::string(op) + " " + from + ranks +
           operands_and_notes + "\n";
  hold(to, layout, type);
  end_line();
}

void PlacedWriter::write_cast(const std::string& to, const std::string& from,
                              const Layout& layout, const Type& type,
                              const std::string& notes,
                              const std::string& why) {
  write_local(
      "cast", to, from, layout, type,
      " " + std::string(to_string(type.dtype)) + notes + " #why=" + quote(why),
      cluster_.piece_bytes(layout, type) / config_.machine().memory_bandwidth);
}

void PlacedWriter::write_free(const std::string& name, const Ranks& ranks) {
  let_go(name, ranks);
  text_ += "free " + name + "@" + to_string(ranks) + "\n";
}

void PlacedWriter::write_frees(
    const std::vector<std::pair<std::string, uint32_t>>& names) {
  std::map<uint32_t, std::string> by_set;
  for (const auto& [name, set] : names) {
    by_set[set] += " " + name + "@" + cluster_.ranks_text(set);
    let_go(name, cluster_.ranks(set));
  }
  for (const auto& [set, words] : by_set) text_ += "free" + words + "\n";
}

// ---- costs ------------------------------------------------------------------

void PlacedWriter::hold(const std::string& name, const Layout& layout,
                        const Type& type) {
  const Ranks& ranks = cluster_.ranks(layout.set);
  std::vector<uint64_t> bytes;
  for (const Shape& piece : cluster_.pieces(layout, type)) {
    bytes.push_back(Type{type.dtype, piece}.bytes());
  }
  if (bytes.size() == 1) {
    memory_.bind(name, ranks, bytes[0]);
  } else {
    memory_.bind(name, ranks, bytes);
  }
}

ShardCosts PlacedWriter::costs() const {
  ShardCosts costs = costs_;
  costs.seconds = seconds();
  costs.peak_bytes = peak_bytes();
  return costs;
}

void PlacedWriter::describe(std::string& out) const {
  out += static_cast<char>(mesh_);
  sums_.describe(out);
}

}  // namespace gt::shard
