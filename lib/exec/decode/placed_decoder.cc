#include "exec/decode/placed_decoder.h"

#include <algorithm>

#include "base/message.h"
#include "file/stored.h"
#include "ops/table.h"
#include "spmd/collective.h"
#include "spmd/labels.h"
#include "spmd/stated.h"
#include "stream/ranks.h"

namespace gt::exec {
namespace {

using Action = LineEntry::Action;

// Puts each name of the line on one rank. The names then refer to the text of
// `rank`.
void set_rank(const std::string& rank, Line& line) {
  for (Name& name : line.results) name.ranks = rank;
  for (Operand& operand : line.operands) {
    if (operand.kind == Operand::Kind::kName) operand.ranks = rank;
  }
}

// Appends the rank to the label or path of a print or save, since several ranks
// would otherwise write several values under one name.
void set_rank_of_output(const Line& local, LineEntry& entry) {
  const std::string_view rank = local.operands[0].ranks;
  if (statement_of(local.op) == Statement::kSave) {
    entry.label = path_of_rank(entry.label, rank);
  } else if (local.key("as") != nullptr) {
    entry.label = full_name(entry.label, rank);
  }
}

bool has_split(const Line& line) { return line.key("split") != nullptr; }

// Returns the entry that `decode` fills, or its error.
template <typename Decode>
Decoding decoding_of(Action action, const Decode& decode) {
  Decoding out;
  out.entry = std::make_unique<LineEntry>();
  out.entry->action = action;
  if (Status s = decode(*out.entry); !s.ok()) {
    out.error = s.error();
    out.entry = nullptr;
  }
  return out;
}

}  // namespace

Decoding PlacedDecoder::decode(const Line& line, const Mesh* mesh) {
  return decoding_of(Action::kParts, [&](LineEntry& entry) {
    return decode_parts(line, mesh, entry);
  });
}

Decoding PlacedDecoder::decode_transfer(const Line& line) {
  return decoding_of(Action::kExchange, [&](LineEntry& entry) {
    return exchanges_->decode_transfer(line, entry);
  });
}

Status PlacedDecoder::decode_parts(const Line& line, const Mesh* mesh,
                                   LineEntry& whole) {
  const auto where = line_ranks(line);
  if (!where.ok()) return where.error();
  const auto grid = grid_of(line, mesh, where.value().ranks);
  if (!grid.ok()) return grid.error();
  if (Status s = pieces_.check_hosted(line, where.value()); !s.ok()) return s;
  const bool crosses = crosses_ranks(line, where.value());
  const bool assembles = is_output(statement_of(line.op)) && has_split(line);
  const bool is_here =
      pieces_.is_all_mine(line, where.value()) &&
      !(assembles && exchanges_ && ExchangeDecoder::is_moved(line));
  if ((crosses || assembles) && !is_here) {
    return crosses ? decode_crossing(line, where.value(), grid.value(), whole)
                   : exchanges_->add_assembly(line, grid.value(), whole);
  }
  // An unknown op is reported before an unknown name.
  if (find_op(line.op) != nullptr) {
    if (Status s = pieces_.check_known(line, where.value()); !s.ok()) return s;
  }
  if (statement_of(line.op) == Statement::kFree) {
    return decode_free(line, where.value(), whole);
  }
  if (assembles) return decode_assembly(line, grid.value(), whole);
  if (crosses) return decode_groups(line, where.value(), grid.value(), whole);
  return decode_ranks(line, grid.value(), whole);
}

Status PlacedDecoder::decode_free(const Line& line, const LineRanks& where,
                                  LineEntry& whole) {
  Call call;
  if (Status s = bind_free(line, call); !s.ok()) return s;
  auto part = std::make_unique<LineEntry>();
  part->set_text(line);
  part->action = Action::kFree;
  for (size_t o = 0; o < line.operands.size(); ++o) {
    std::vector<int64_t> own;
    for (const int64_t rank : where.operands[o]) {
      if (pieces_.is_mine(line, rank)) own.push_back(rank);
    }
    pieces_.add_operands(line.operands[o].text, own, *part);
  }
  whole.parts.push_back(std::move(part));
  return ok_status();
}

// Adds the part of a line on one rank that fails before it runs.
void PlacedDecoder::add_failure(const Line& local, const Fault& fault,
                                LineEntry& whole) {
  whole.is_lasting = false;
  const Statement statement = statement_of(local.op);
  auto part = std::make_unique<LineEntry>();
  part->set_text(local);
  if (statement == Statement::kPrint) {
    part->action = Action::kPrintFailure;
    part->label = print_label(local);
    part->message = *fault;
  } else if (statement == Statement::kSave) {
    part->action = Action::kSaveFailure;
    part->label = unquote(local.operands[1].text);
    part->message = *fault;
  } else {
    part->action = Action::kFail;
    part->label = *fault;
    for (const Name& name : local.results) {
      part->results.push_back(
          result_of(registers_, full_name(name.text, name.ranks)));
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
                                  LineEntry& whole) {
  Decoding part = decoder_.decode(local);
  if (part.entry == nullptr) {
    if (part.poison == nullptr) return part.error;
    add_failure(local, part.poison, whole);
    if (ranks > 1 && is_output(statement_of(local.op))) {
      set_rank_of_output(local, *whole.parts.back());
    }
    return ok_status();
  }
  part.entry->set_text(local);
  if (ranks > 1 && is_output(statement_of(local.op))) {
    set_rank_of_output(local, *part.entry);
  }
  whole.parts.push_back(std::move(part.entry));
  return ok_status();
}

Status PlacedDecoder::decode_ranks(const Line& line, const Grid& grid,
                                   LineEntry& whole) {
  const auto plan = local_plan(line, grid);
  if (!plan.ok()) return plan.error();
  for (size_t p = 0; p < grid.size(); ++p) {
    if (!pieces_.is_mine(line, grid.ranks()[p])) continue;
    const std::string rank = std::to_string(grid.ranks()[p]);
    const LocalLine& variant =
        plan.value().variants[plan.value().variant_of[p]];
    Line local = variant.line;
    set_rank(rank, local);
    if (Status s = decode_rank(local, grid.size(), whole); !s.ok()) return s;
    if (!plan.value().has_split || whole.parts.empty()) continue;
    Status fits = check_part(line, variant, *whole.parts.back());
    if (!fits.ok()) return fits;
  }
  return ok_status();
}

// Error: the piece that the part is about does not have the shape that split=
// gives.
Status PlacedDecoder::check_part(const Line& line, const LocalLine& variant,
                                 const LineEntry& part) const {
  if (part.action != Action::kRun) return ok_status();
  const int operand = part.recipe->op->row->part_operand;
  const TypeId type =
      operand < 0 ? part.recipe->results[0].type
                  : part.operands[static_cast<size_t>(operand)].stamp.type;
  return check_region(line, variant, types_[type].shape);
}

// ---- where values cross ranks -----------------------------------------------

// Decodes a line whose values cross between ranks that this worker plays all
// of.
Status PlacedDecoder::decode_groups(const Line& line, const LineRanks& where,
                                    const Grid& grid, LineEntry& whole) {
  if (Status s = check_crossing(line); !s.ok()) return s;
  // The types of failed pieces are not known, so those of the results are not
  // either.
  const Fault fault =
      pieces_.failure_in(line.operands[0], ranks_read(line, where, 0));
  if (fault != nullptr) {
    fail_ranks(line, where.ranks, fault, whole);
    return ok_status();
  }
  ExchangeOptions options;
  options.home = one_home;
  const auto groups =
      exchange_plans(line, where, grid, pieces_.types(line), options);
  if (!groups.ok()) return groups.error();
  for (const ExchangePlan& group : groups.value()) {
    if (Status s = add_group(line, group, whole); !s.ok()) return s;
  }
  return ok_status();
}

// Decodes a line whose values cross between ranks, some of which other workers
// play.
Status PlacedDecoder::decode_crossing(const Line& line, const LineRanks& where,
                                      const Grid& grid, LineEntry& whole) {
  if (Status s = check_crossing(line); !s.ok()) return s;
  const auto noted = noted_pieces(line, line.operands[0]);
  if (!noted.ok()) return noted.error();
  const auto own =
      exchanges_->add_groups(line, where, grid, noted.value().by_rank(), whole);
  if (!own.ok()) return own.error();
  for (const ExchangePlan& group : own.value()) {
    if (Status s = check_noted(line, group); !s.ok()) return s;
    if (const Fault fault =
            pieces_.failure_in(line.operands[0], group.sources())) {
      fail_ranks(line, group.targets(), fault, whole);
    } else if (Status s = add_group(line, group, whole); !s.ok()) {
      return s;
    }
  }
  return ok_status();
}

// Error: a register does not have the type that the note states, for which the
// group was planned.
Status PlacedDecoder::check_noted(const Line& line,
                                  const ExchangePlan& group) const {
  const std::string_view name = line.operands[0].text;
  for (size_t i = 0; i < group.sources().size(); ++i) {
    const int64_t rank = group.sources()[i];
    const Type& noted = group.pieces()[i];
    const Register* r = pieces_.find(name, rank);
    if (r != nullptr && (r->has_failed() || pieces_.type_of(*r) == noted)) {
      continue;
    }
    return at_op(line, full_name(name, std::to_string(rank)) + " is not the " +
                           to_string(noted) + " that #pieces= says");
  }
  return ok_status();
}

// Adds a group whose ranks this worker plays all of.
Status PlacedDecoder::add_group(const Line& line, const ExchangePlan& group,
                                LineEntry& whole) {
  const auto program = group_program(group);
  if (!program.ok()) return at_op(line, program.error().message);
  auto part = std::make_unique<LineEntry>();
  part->set_text(line);
  pieces_.add_operands(line.operands[0].text, group.sources(), *part);
  for (const int64_t rank : group.targets()) {
    pieces_.add_result(line.results[0].text, rank, *part);
  }
  Status s = decoder_.decode_group(*find_op(line.op), group.pieces(),
                                   program.value(), *part);
  if (!s.ok()) return Error{s.error().message, line.op_column};
  whole.parts.push_back(std::move(part));
  return ok_status();
}

// Decodes a print or save of a whole tensor that is assembled first.
Status PlacedDecoder::decode_assembly(const Line& line, const Grid& grid,
                                      LineEntry& whole) {
  std::vector<const Type*> none(line.operands.size(), nullptr);
  Call call;
  if (Status s = bind_form(line, none, call); !s.ok()) return s;
  const Operand& operand = line.operands[0];
  if (const Fault fault = pieces_.failure_in(operand, grid.ranks())) {
    Line local = line;
    for (Operand& o : local.operands) o.ranks = {};
    add_failure(local, fault, whole);
    return ok_status();
  }
  const auto made = assembly(line, grid, pieces_.types(line));
  if (!made.ok()) return made.error();
  auto part = std::make_unique<LineEntry>();
  part->set_text(line);
  part->set_output(line);
  pieces_.add_operands(operand.text, made.value().sources, *part);
  for (const int64_t rank : grid.ranks()) {
    part->watched.push_back(
        operand_of(registers_, *pieces_.find(operand.text, rank)));
  }
  Status s = decoder_.decode_group(*find_op(line.op), made.value().pieces,
                                   made.value().program, *part);
  if (!s.ok()) return Error{s.error().message, line.op_column};
  whole.parts.push_back(std::move(part));
  return ok_status();
}

}  // namespace gt::exec
