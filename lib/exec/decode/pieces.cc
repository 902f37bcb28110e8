#include "exec/decode/pieces.h"

#include <algorithm>

#include "ops/suggest.h"
#include "ops/table.h"
#include "spmd/labels.h"
#include "spmd/stated.h"

namespace gt::exec {
namespace {

std::string piece_name(std::string_view name, int64_t rank) {
  return full_name(name, std::to_string(rank));
}

}  // namespace

// ---- who plays which rank ---------------------------------------------------

bool Pieces::is_mine(const Line& line, int64_t rank) const {
  return hosting_ == nullptr || hosting_->is_mine(space_name(line), rank);
}

bool Pieces::are_mine(const Line& line,
                      const std::vector<int64_t>& ranks) const {
  return std::all_of(ranks.begin(), ranks.end(),
                     [&](int64_t r) { return is_mine(line, r); });
}

bool Pieces::is_all_mine(const Line& line, const LineRanks& where) const {
  if (hosting_ == nullptr) return true;
  return are_mine(line, where.ranks) &&
         (collective_of(line.op) != Collective::kCopy ||
          are_mine(line, where.operands[0]));
}

unsigned Pieces::worker_of(const Line& line, int64_t rank) const {
  return hosting_->worker_of(space_name(line), rank).value_or(0);
}

Status Pieces::check_hosted(const Line& line, const LineRanks& where) const {
  if (hosting_ == nullptr) return ok_status();
  std::vector<const std::vector<int64_t>*> sets{&where.ranks};
  for (size_t o = 0; o < where.operands.size(); ++o) {
    sets.push_back(&ranks_read(line, where, o));
  }
  for (const auto* ranks : sets) {
    for (const int64_t rank : *ranks) {
      if (hosting_->worker_of(space_name(line), rank)) continue;
      return at_op(line, "no worker plays rank " + std::to_string(rank) +
                             "; a #ranks line must say who");
    }
  }
  return ok_status();
}

// ---- the pieces -------------------------------------------------------------

const Register* Pieces::find(std::string_view name, int64_t rank) const {
  return registers_.value_of(piece_name(name, rank));
}

Status Pieces::check_known(const Line& line, const LineRanks& where) const {
  for (size_t o = 0; o < line.operands.size(); ++o) {
    const Operand& operand = line.operands[o];
    if (operand.kind != Operand::Kind::kName) continue;
    for (const int64_t rank : ranks_read(line, where, o)) {
      if (!is_mine(line, rank) || find(operand.text, rank) != nullptr) continue;
      return unknown_name(line, o, ascending(ranks_read(line, where, o)),
                          registers_.some_live_names());
    }
  }
  return ok_status();
}

PieceType Pieces::types(const Line& line) const {
  return [this, &line](size_t operand, int64_t rank) -> const Type* {
    return &type_of(*find(line.operands[operand].text, rank));
  };
}

Fault Pieces::failure_in(const Operand& operand,
                         const std::vector<int64_t>& ranks) const {
  for (const int64_t rank : ranks) {
    const Register* r = find(operand.text, rank);
    if (r->has_failed()) return registers_.failure_of(registers_.id_of(*r));
  }
  return nullptr;
}

// ---- parts ------------------------------------------------------------------

void Pieces::add_operands(std::string_view name,
                          const std::vector<int64_t>& ranks,
                          LineEntry& entry) const {
  for (const int64_t rank : ranks) {
    entry.operands.push_back(operand_of(registers_, *find(name, rank)));
  }
}

void Pieces::add_result(std::string_view name, int64_t rank, LineEntry& entry) {
  entry.results.push_back(result_of(registers_, piece_name(name, rank)));
}

}  // namespace gt::exec
