// Lines with ranks: what they read, check and define.
#include <algorithm>

#include "emit/session.h"
#include "file/stored.h"
#include "grad/line_types.h"
#include "ops/suggest.h"
#include "ops/table.h"
#include "spmd/labels.h"
#include "spmd/redistribution.h"
#include "stream/ranks.h"

namespace gt {
void Session::placed(Origin origin, std::string& out) {
  ledger_.drop_types();
  auto where = line_ranks(line_);
  if (!where.ok()) return reject(where.error(), origin, out);
  where_ = std::move(where.value());
  mesh_ = ledger_.meshes.of(line_);
  if (is_output(statement_of(line_.op))) return placed_output(origin, out);
  if (states_specs(line_)) return redistribute(origin, out);
  placed_plain(origin, out);
}

// ---- operands
// ----------------------------------------------------------------

Error Session::unknown_piece(const Operand& operand,
                             const Ranks& missing) const {
  const std::string name(operand.text);
  std::string message = std::string(line_.op) + ": '" + name +
                        "' has no piece on rank" +
                        (missing.size() > 1 ? "s " : " ") + to_string(missing);
  const std::vector<SymbolId>& pieces = ledger_.symbols.pieces(name);
  if (!pieces.empty()) {
    Ranks known;
    for (const SymbolId id : pieces) {
      known = together(known, ledger_.symbols[id].ranks);
    }
    message += "; it lives on " + with_ranks(name, to_string(known));
  } else if (const SymbolId id = ledger_.symbols.find(name);
             id != kNil && ledger_.symbols[id].is_bound()) {
    message += "; there is '" + name + "', without ranks";
  } else {
    const auto i = static_cast<size_t>(&operand - line_.operands.data());
    return unknown_name(line_, i, with_ranks(name, operand.ranks),
                        ledger_.symbols.bound_names());
  }
  return Error{message, operand.column};
}

// Looks up the pieces that the line reads; false when it failed, and was
// answered.
bool Session::resolve_pieces(Origin origin, std::string& out) {
  reads_.assign(line_.operands.size(), {});
  const Symbol* failed = nullptr;
  for (size_t i = 0; i < line_.operands.size(); ++i) {
    const Operand& o = line_.operands[i];
    if (o.kind != Operand::Kind::kName) continue;
    const bool is_grad = statement_of(line_.op) == Statement::kGrad;
    const Ranks ranks =
        ascending(is_grad ? where_.operands[i] : ranks_read(line_, where_, i));
    if (o.text == kSeedName && !ledger_.emitted) begin_placed_seeds(ranks, out);
    reads_[i] = ledger_.find_pieces(o.text, ranks);
    if (!reads_[i].missing.empty()) {
      reject(unknown_piece(o, reads_[i].missing), origin, out);
      return false;
    }
    for (const Ledger::PieceRead& read : reads_[i].pieces) {
      if (ledger_.symbols[read.symbol].failed) {
        failed = &ledger_.symbols[read.symbol];
      }
    }
  }
  if (failed == nullptr) return true;
  if (line_.results.empty()) {
    write_line(origin, out);
  } else {
    const std::string message = failed->message;
    fail_results(message, origin, out);
  }
  return false;
}

// Where the line runs, once its form is right and all it reads is there;
// nothing: it has been rejected, or failed.
std::optional<Grid> Session::read_pieces(Origin origin, std::string& out) {
  operand_types_.assign(line_.operands.size(), nullptr);
  if (Status s = bind_form(line_, operand_types_, call_); !s.ok()) {
    reject(s.error(), origin, out);
    return std::nullopt;
  }
  auto grid = grid_of(line_, mesh_, where_.ranks);
  if (!grid.ok()) {
    reject(grid.error(), origin, out);
    return std::nullopt;
  }
  if (!resolve_pieces(origin, out)) return std::nullopt;
  return std::move(grid.value());
}

const Type* Session::piece_type(size_t operand, int64_t rank) const {
  for (const Ledger::PieceRead& read : reads_[operand].pieces) {
    if (!std::binary_search(read.ranks.begin(), read.ranks.end(), rank)) {
      continue;
    }
    const ValueId value = ledger_.symbols[read.symbol].value;
    return &ledger_.types.on(ledger_.tape.type(value), rank);
  }
  return nullptr;
}

// ---- computing lines
// -----------------------------------------------------------

void Session::placed_plain(Origin origin, std::string& out) {
  if (Status s = check_results(); !s.ok()) {
    return reject(s.error(), origin, out);
  }
  before_.clear();
  completion_.clear();
  added_.clear();
  if (Status s = complete_placed(out); !s.ok()) {
    return reject(s.error(), origin, out);
  }
  // An unknown op is said before an unknown name.
  operand_types_.assign(line_.operands.size(), nullptr);
  if (Status s = bind_form(line_, operand_types_, call_); !s.ok()) {
    return reject(s.error(), origin, out);
  }
  if (!resolve_pieces(origin, out)) return;
  if (Status s = join_operands(origin); !s.ok()) {
    return reject(s.error(), origin, out);
  }
  if (add_results(call_)) {
    GT_CHECK(bind_form(line_, operand_types_, call_).ok());
  }
  std::vector<const PlacedType*> operands;
  for (const ValueId v : operand_values_) {
    operands.push_back(v == kNil ? nullptr
                                 : &ledger_.types.placed(ledger_.tape.type(v)));
  }
  auto types =
      line_types(line_, where_,
                 AxisNames(ledger_.meshes.all_of(space_name(line_))), operands);
  const Status made = types.ok() ? check_placed_seed(types.value().results)
                                 : Status(types.error());
  if (!made.ok()) {
    settle_joined(origin);
    for (const std::string& name : added_) ledger_.give_back(name);
    line_.results.resize(line_.results.size() - added_.size());
    return reject(made.error(), origin, out);
  }
  line_out_.clear();
  write_line(origin, line_out_);
  result_types_.clear();
  differentiable_.clear();
  for (PlacedType& type : types.value().results) {
    differentiable_.push_back(is_float(type.types[0].dtype) ? 1 : 0);
    result_types_.push_back(ledger_.types.id(std::move(type)));
  }
  record_typed(call_, origin);
  settle_joined(origin);
  bind_results(origin);
  out += before_;
  out += line_out_;
  ledger_.write_idle_frees(out);
  count_seed(origin, out);
  limit_history(origin);
}

// ---- redistribute between specs
// ----------------------------------------------------------------

// As lines over one axis each, under the result's name.
void Session::redistribute(Origin origin, std::string& out) {
  const std::optional<Grid> grid = read_pieces(origin, out);
  if (!grid) return;
  const PieceType pieces = [this](size_t operand, int64_t rank) {
    return piece_type(operand, rank);
  };
  const LetterOn letter = [this](const std::string& axis) {
    const ValueId v = ledger_.symbols[reads_[0].pieces[0].symbol].value;
    const auto axes = mesh_->resolve(axis);
    return ledger_.types.placed(ledger_.tape.type(v))
        .letters.on(*axes.value()[0]);
  };
  auto steps = redistribution_steps(line_, *grid, pieces, letter);
  if (!steps.ok()) return reject(steps.error(), origin, out);
  steps_ = std::move(steps.value());
  for (const Note& note : line_.notes) {
    std::string text = " #" + std::string(note.key);
    if (!note.value.empty()) text += "=" + std::string(note.value);
    // What it claims holds of the result.
    const bool claims = note.key == "type" || note.key == "spec";
    for (std::string& step : steps_) {
      if (!claims || &step == &steps_.back()) step += text;
    }
  }
  if (!line_.remark.empty()) steps_.back() += " " + std::string(line_.remark);
  for (const std::string& step : steps_) {
    GT_CHECK(parse_line(step, line_).ok());
    text_ = step;
    placed(origin, out);
  }
}

// ---- print and save
// --------------------------------------------------------------

void Session::placed_output(Origin origin, std::string& out) {
  const std::optional<Grid> grid = read_pieces(origin, out);
  if (!grid) return;
  std::vector<Type> printed;
  if (line_.key("split") != nullptr) {
    const auto whole =
        assembly(line_, grid.value(), [this](size_t operand, int64_t rank) {
          return piece_type(operand, rank);
        });
    if (!whole.ok()) return reject(whole.error(), origin, out);
    printed.push_back(whole.value().whole);
  } else {
    for (const int64_t rank : where_.ranks) {
      printed.push_back(*piece_type(0, rank));
    }
  }
  Line local = line_;
  std::erase_if(local.keys, [](const Key& key) {
    return key.key == "split" || key.key == "shape";
  });
  for (const Type& type : printed) {
    operand_types_[0] = &type;
    if (Status s = gt::bind(local, operand_types_, call_); !s.ok()) {
      return reject(s.error(), origin, out);
    }
  }
  write_line(origin, out);
  if (statement_of(line_.op) == Statement::kSave) note_placed_save(printed);
}

// Of several ranks without split= each has its own file.
void Session::note_placed_save(const std::vector<Type>& saved) {
  const std::string path = unquote(line_.operands[1].text);
  if (saved.size() == 1) {
    saved_[normal_path(path)] = saved[0];
    return;
  }
  for (size_t p = 0; p < saved.size(); ++p) {
    saved_[normal_path(path_of_rank(path, std::to_string(where_.ranks[p])))] =
        saved[p];
  }
}

// ---- what the user may leave out
// ---------------------------------------------------

Status Session::complete_placed(std::string& out) {
  const Op* op = find_op(line_.op);
  if (op == nullptr) return ok_status();
  if (op->row->statement == Statement::kLoad) {
    const size_t before = line_.operands.size();
    const Status s = complete_load();
    if (line_.operands.size() > before) {
      where_.operands.insert(where_.operands.begin() + 1, Ranks{});
    }
    return s;
  }
  const size_t at = line_.operands.size();
  if (!op->is_seed(at) || line_.results.empty()) return ok_status();
  begin_placed_seeds(ascending(where_.ranks), out);
  completion_ = kSeedName;
  added_ranks_ = to_string(where_.ranks);
  line_.operands.push_back(
      {Operand::Kind::kName, 0, completion_, added_ranks_});
  where_.operands.push_back(where_.ranks);
  return ok_status();
}

}  // namespace gt
