#include "exec/decode/placed_decoder.h"

#include <algorithm>

#include "base/message.h"
#include "file/stored.h"
#include "ops/suggest.h"
#include "ops/table.h"
#include "stream/ranks.h"

namespace gt {
namespace {

using Action = LineEntry::Action;

// The line with each name on one rank. The text belongs to `rank`.
void set_rank(const std::string& rank, Line& line) {
  for (Name& name : line.results) name.ranks = rank;
  for (Operand& operand : line.operands) {
    if (operand.kind == Operand::Kind::kName) operand.ranks = rank;
  }
}

// Several ranks under one as= or path would be several values of one name.
void set_rank_of_output(const Line& local, LineEntry& entry) {
  const std::string_view rank = local.operands[0].ranks;
  if (entry.action == Action::kSave) {
    entry.label = path_of_rank(entry.label, rank);
  } else if (local.key("as") != nullptr) {
    entry.label = full_name(entry.label, rank);
  }
}

std::string text_of(const Line& line) {
  std::string text;
  append_instruction(text, line);
  return text;
}

bool has_split(const Line& line) { return line.key("split") != nullptr; }

}  // namespace

Decoding PlacedDecoder::decode(const Line& line, std::string_view text,
                               const Mesh* mesh) {
  Decoding out;
  out.entry = std::make_unique<LineEntry>();
  out.entry->set_text(text);
  out.entry->action = Action::kParts;
  if (Status s = decode_parts(line, mesh, out); !s.ok()) {
    out.error = s.error();
    out.entry = nullptr;
  }
  return out;
}

Status PlacedDecoder::decode_parts(const Line& line, const Mesh* mesh,
                                   Decoding& out) {
  const auto where = line_ranks(line);
  if (!where.ok()) return where.error();
  const auto grid = grid_of(line, mesh, where.value().ranks);
  if (!grid.ok()) return grid.error();
  if (Status s = check_hosted(line, where.value()); !s.ok()) return s;
  const bool crosses = crosses_ranks(line, where.value());
  const bool assembles = is_output(statement_of(line.op)) && has_split(line);
  if ((crosses || assembles) && !is_all_mine(line, where.value())) {
    return crosses ? decode_crossing(line, where.value(), grid.value(), out)
                   : decode_gathering(line, grid.value(), out);
  }
  // An unknown op is said before an unknown name.
  if (find_op(line.op) != nullptr) {
    if (Status s = find_pieces(line, where.value()); !s.ok()) return s;
  }
  if (statement_of(line.op) == Statement::kFree) {
    return decode_free(line, where.value(), out);
  }
  if (assembles) return decode_assembly(line, grid.value(), out);
  if (crosses) return decode_groups(line, where.value(), grid.value(), out);
  return decode_ranks(line, grid.value(), out);
}

bool PlacedDecoder::is_mine(const Line& line, int64_t rank) const {
  return hosting_ == nullptr || hosting_->is_mine(space_name(line), rank);
}

bool PlacedDecoder::are_mine(const Line& line,
                             const std::vector<int64_t>& ranks) const {
  return std::all_of(ranks.begin(), ranks.end(),
                     [&](int64_t r) { return is_mine(line, r); });
}

// Of the ranks that the line's values are on or go to.
bool PlacedDecoder::is_all_mine(const Line& line,
                                const LineRanks& where) const {
  if (hosting_ == nullptr) return true;
  return are_mine(line, where.ranks) &&
         (collective_of(line.op) != Collective::kCopy ||
          are_mine(line, where.operands[0]));
}

unsigned PlacedDecoder::worker_of(const Line& line, int64_t rank) const {
  return hosting_->worker_of(space_name(line), rank).value_or(0);
}

Status PlacedDecoder::check_hosted(const Line& line,
                                   const LineRanks& where) const {
  if (hosting_ == nullptr) return ok_status();
  std::vector<const std::vector<int64_t>*> sets{&where.ranks};
  for (size_t o = 0; o < where.operands.size(); ++o) {
    sets.push_back(&ranks_read(line, where, o));
  }
  for (const auto* ranks : sets) {
    for (const int64_t rank : *ranks) {
      if (hosting_->worker_of(space_name(line), rank)) continue;
      return Error{std::string(line.op) + ": no worker plays rank " +
                       std::to_string(rank) + "; a #ranks line must say who",
                   line.op_column};
    }
  }
  return ok_status();
}

const Register* PlacedDecoder::piece(const Operand& operand,
                                     int64_t rank) const {
  return registers_.find(full_name(operand.text, std::to_string(rank)));
}

Status PlacedDecoder::find_pieces(const Line& line,
                                  const LineRanks& where) const {
  for (size_t o = 0; o < line.operands.size(); ++o) {
    const Operand& operand = line.operands[o];
    if (operand.kind != Operand::Kind::kName) continue;
    for (const int64_t rank : ranks_read(line, where, o)) {
      if (!is_mine(line, rank) || piece(operand, rank) != nullptr) continue;
      return unknown_name(line, o,
                          full_name(operand.text, std::to_string(rank)),
                          registers_.some_live_names());
    }
  }
  return ok_status();
}

PieceType PlacedDecoder::piece_types(const Line& line) const {
  return [this, &line](size_t operand, int64_t rank) -> const Type* {
    const Register* r = piece(line.operands[operand], rank);
    return &types_[r->stamp.type].type;
  };
}

Fault PlacedDecoder::failure_in(const Operand& operand,
                                const std::vector<int64_t>& ranks) const {
  for (const int64_t rank : ranks) {
    const Register* r = piece(operand, rank);
    if (r->has_failed()) return registers_.failure_of(registers_.id_of(*r));
  }
  return nullptr;
}

Status PlacedDecoder::decode_free(const Line& line, const LineRanks& where,
                                  Decoding& out) {
  if (!line.results.empty() || !line.keys.empty()) {
    return Error{"free: usage: free x...", line.op_column};
  }
  auto part = std::make_unique<LineEntry>();
  part->text = text_of(line);
  part->action = Action::kFree;
  for (size_t o = 0; o < line.operands.size(); ++o) {
    for (const int64_t rank : where.operands[o]) {
      if (!is_mine(line, rank)) continue;
      const Register* r = piece(line.operands[o], rank);
      part->operands.push_back({true, registers_.id_of(*r), r->stamp, nullptr});
    }
  }
  out.entry->parts.push_back(std::move(part));
  return ok_status();
}

// A line that fails on its rank before it runs.
void PlacedDecoder::add_failure(const Line& local, const Fault& fault,
                                LineEntry& whole) {
  whole.is_lasting = false;
  if (statement_of(local.op) == Statement::kSave) return;
  auto part = std::make_unique<LineEntry>();
  part->text = text_of(local);
  if (statement_of(local.op) == Statement::kPrint) {
    part->action = Action::kPrintFailure;
    part->label = print_label(local);
    part->message = *fault;
  } else {
    part->action = Action::kFail;
    part->label = *fault;
    for (const Name& name : local.results) {
      const RegisterId id = registers_.obtain(full_name(name.text, name.ranks));
      part->results.push_back({id, registers_[id].stamp.generation});
    }
  }
  whole.parts.push_back(std::move(part));
}

void PlacedDecoder::fail_ranks(const Line& line,
                               const std::vector<int64_t>& ranks,
                               const Fault& fault, LineEntry& whole) {
  for (const int64_t rank : ranks) {
    const std::string text = std::to_string(rank);
    Line local = line;
    set_rank(text, local);
    add_failure(local, fault, whole);
  }
}

Status PlacedDecoder::decode_rank(const Line& local, size_t ranks,
                                  Decoding& out) {
  const std::string text = text_of(local);
  Decoding part = decoder_.decode(local, text);
  if (part.entry == nullptr) {
    if (part.poison == nullptr) return part.error;
    add_failure(local, part.poison, *out.entry);
    if (statement_of(local.op) == Statement::kPrint && ranks > 1) {
      set_rank_of_output(local, *out.entry->parts.back());
    }
    return ok_status();
  }
  if (ranks > 1 && is_output(statement_of(local.op))) {
    set_rank_of_output(local, *part.entry);
  }
  out.entry->parts.push_back(std::move(part.entry));
  return ok_status();
}

Status PlacedDecoder::decode_ranks(const Line& line, const Grid& grid,
                                   Decoding& out) {
  const auto plan = local_plan(line, grid);
  if (!plan.ok()) return plan.error();
  for (size_t p = 0; p < grid.size(); ++p) {
    if (!is_mine(line, grid.ranks()[p])) continue;
    const std::string rank = std::to_string(grid.ranks()[p]);
    const LocalLine& variant =
        plan.value().variants[plan.value().variant_of[p]];
    Line local = variant.line;
    set_rank(rank, local);
    if (Status s = decode_rank(local, grid.size(), out); !s.ok()) return s;
    if (!plan.value().has_split || out.entry->parts.empty()) continue;
    const LineEntry& part = *out.entry->parts.back();
    if (part.action != Action::kRun) continue;
    const int operand = part.recipe->op->row->part_operand;
    const TypeId type =
        operand < 0 ? part.recipe->results[0].type
                    : part.operands[static_cast<size_t>(operand)].stamp.type;
    const Status fits = check_region(line, variant, types_[type].type.shape);
    if (!fits.ok()) return fits;
  }
  return ok_status();
}

Status PlacedDecoder::decode_groups(const Line& line, const LineRanks& where,
                                    const Grid& grid, Decoding& out) {
  const Operand* operand = first_name(line);
  if (operand == nullptr || line.results.size() != 1) {
    return Error{std::string(line.op) +
                     ": takes one name and gives one; "
                     "usage: " +
                     find_op(line.op)->row->signature,
                 line.op_column};
  }
  const auto o = static_cast<size_t>(operand - line.operands.data());
  // Types of failed pieces are not known, so nobody knows what comes out.
  const Fault fault = failure_in(*operand, ranks_read(line, where, o));
  if (fault != nullptr) {
    fail_ranks(line, where.ranks, fault, *out.entry);
    return ok_status();
  }
  const auto groups = group_plan(line, where, grid, piece_types(line));
  if (!groups.ok()) return groups.error();
  for (const Group& group : groups.value()) {
    if (Status s = add_group(line, group, out); !s.ok()) return s;
  }
  return ok_status();
}

// A group whose ranks are all played here.
Status PlacedDecoder::add_group(const Line& line, const Group& group,
                                Decoding& out) {
  auto part = std::make_unique<LineEntry>();
  part->text = text_of(line);
  for (const int64_t rank : group.sources) {
    const Register* r = piece(*first_name(line), rank);
    part->operands.push_back({true, registers_.id_of(*r), r->stamp, nullptr});
  }
  for (const int64_t rank : group.targets) {
    const RegisterId id = registers_.obtain(
        full_name(line.results[0].text, std::to_string(rank)));
    part->results.push_back({id, registers_[id].stamp.generation});
  }
  Status s = decoder_.decode_group(*find_op(line.op), group.pieces,
                                   group.program, *part);
  if (!s.ok()) return Error{s.error().message, line.op_column};
  out.entry->parts.push_back(std::move(part));
  return ok_status();
}

// print and save of a whole that is put together first.
Status PlacedDecoder::decode_assembly(const Line& line, const Grid& grid,
                                      Decoding& out) {
  std::vector<const Type*> none(line.operands.size(), nullptr);
  Call call;
  if (Status s = bind_form(line, none, call); !s.ok()) return s;
  const Operand& operand = line.operands[0];
  if (const Fault fault = failure_in(operand, grid.ranks())) {
    Line local = line;
    for (Operand& o : local.operands) o.ranks = {};
    add_failure(local, fault, *out.entry);
    return ok_status();
  }
  const auto whole = assembly(line, grid, piece_types(line));
  if (!whole.ok()) return whole.error();
  auto part = std::make_unique<LineEntry>();
  part->text = text_of(line);
  const bool prints = statement_of(line.op) == Statement::kPrint;
  part->action = prints ? Action::kPrint : Action::kSave;
  part->label = prints ? print_labels(line)[0] : unquote(line.operands[1].text);
  for (const int64_t rank : whole.value().sources) {
    const Register* r = piece(operand, rank);
    part->operands.push_back({true, registers_.id_of(*r), r->stamp, nullptr});
  }
  Status s = decoder_.decode_group(*find_op(line.op), whole.value().pieces,
                                   whole.value().program, *part);
  if (!s.ok()) return Error{s.error().message, line.op_column};
  out.entry->parts.push_back(std::move(part));
  return ok_status();
}

}  // namespace gt
