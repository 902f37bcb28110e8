#include "exec/decode/exchange_decoder.h"

#include <algorithm>

#include "base/message.h"
#include "base/text.h"
#include "ops/table.h"
#include "spmd/labels.h"
#include "spmd/stated.h"
#include "stream/ranks.h"

namespace gt::exec {
namespace {

using Action = LineEntry::Action;

constexpr const char* kNotes[] = {"pieces", "from", "to"};

// Reads #pieces=TYPE, one type for all pieces, or #pieces=TYPE;TYPE..., a type
// for each.
Result<std::vector<Type>> types_of_note(const Line& line, size_t pieces) {
  const std::string_view* note = line.note("pieces");
  if (note == nullptr) {
    return at_op(line,
                 "its pieces are with several workers, and no #pieces= note "
                 "says their types; send it through gt-route");
  }
  std::string_view rest = *note;
  std::vector<Type> types;
  for (;;) {
    const size_t end = rest.find(';');
    const auto type = parse_type(rest.substr(0, end));
    if (!type.ok()) return at_op(line, "#pieces=: " + type.error().message);
    types.push_back(type.value());
    if (end == std::string_view::npos) break;
    rest.remove_prefix(end + 1);
  }
  if (types.size() == 1) types.assign(pieces, types[0]);
  if (types.size() == pieces) return types;
  return at_op(line, "#pieces= has " + std::to_string(types.size()) +
                         " types for " + std::to_string(pieces) + " pieces");
}

// Reads a note that is a worker's number or a list of such numbers.
Result<std::vector<unsigned>> workers_of_note(const Line& line,
                                              std::string_view key,
                                              unsigned workers) {
  const std::string_view* note = line.note(key);
  std::string_view rest = note == nullptr ? std::string_view{} : *note;
  std::vector<unsigned> out;
  for (;;) {
    const std::string_view word = rest.substr(0, rest.find(','));
    unsigned number = 0;
    if (!read_number(word, number) || number >= workers) {
      return at_op(line, "#" + std::string(key) + "=" + excerpt(rest) +
                             " names no worker among " +
                             std::to_string(workers));
    }
    out.push_back(number);
    if (word.size() == rest.size()) return out;
    rest.remove_prefix(word.size() + 1);
  }
}

}  // namespace

std::string exchange_notes(const Line& line) {
  std::string out;
  for (const char* key : kNotes) {
    const std::string_view* value = line.note(key);
    if (value != nullptr)
      out += std::string(key) + "=" + std::string(*value) + " ";
  }
  return out;
}

Result<NotedPieces> noted_pieces(const Line& line, const Operand& operand) {
  auto ranks = parse_ranks(operand.ranks);
  if (!ranks.ok()) return Error{ranks.error().message, operand.column};
  auto types = types_of_note(line, ranks.value().size());
  if (!types.ok()) return types.error();
  return NotedPieces{std::move(ranks.value()), std::move(types.value())};
}

PieceType NotedPieces::by_rank() const {
  return [this](size_t /*operand*/, int64_t rank) -> const Type* {
    const auto it = std::find(ranks.begin(), ranks.end(), rank);
    return it == ranks.end() ? nullptr
                             : &types[static_cast<size_t>(it - ranks.begin())];
  };
}

// ---- plans ------------------------------------------------------------------

ExchangeOptions ExchangeDecoder::options(const Line& line) const {
  ExchangeOptions options;
  options.home = [this, &line](int64_t rank) {
    return pieces_.worker_of(line, rank);
  };
  options.here = hosting_.self();
  return options;
}

bool ExchangeDecoder::is_all_here(const ExchangePlan& plan) const {
  const auto all_here = [this](const std::vector<uint32_t>& homes) {
    return std::all_of(homes.begin(), homes.end(),
                       [this](uint32_t h) { return h == hosting_.self(); });
  };
  return all_here(plan.step(0).source_homes) &&
         all_here(plan.step(plan.steps() - 1).target_homes);
}

Result<std::vector<ExchangePlan>> ExchangeDecoder::add_groups(
    const Line& line, const LineRanks& where, const Grid& grid,
    const PieceType& types, LineEntry& whole) {
  auto plans = exchange_plans(line, where, grid, types, options(line));
  if (!plans.ok()) return plans.error();
  std::vector<ExchangePlan> own;
  for (ExchangePlan& plan : plans.value()) {
    if (is_all_here(plan)) {
      own.push_back(std::move(plan));
    } else if (Status s = add(line, plan, types, whole); !s.ok()) {
      return s.error();
    }
  }
  return own;
}

Status ExchangeDecoder::add_assembly(const Line& line, const Grid& grid,
                                     LineEntry& whole) {
  std::vector<const Type*> none(line.operands.size(), nullptr);
  Call call;
  if (Status s = bind_form(line, none, call); !s.ok()) return s;
  const auto noted = noted_pieces(line, line.operands[0]);
  if (!noted.ok()) return noted.error();
  const PieceType types = noted.value().by_rank();
  unsigned reader = pieces_.worker_of(line, grid.ranks()[0]);
  if (is_moved(line)) {
    const auto to = workers_of_note(line, "to", hosting_.workers());
    if (!to.ok()) return to.error();
    reader = to.value()[0];
  }
  const auto made = assembly(line, grid, types, [&](int64_t rank) {
    return pieces_.worker_of(line, rank) == reader;
  });
  if (!made.ok()) return made.error();
  ExchangeOptions chosen = options(line);
  chosen.reader = reader;
  const ExchangePlan plan(made.value(), chosen);
  if (Status s = add(line, plan, types, whole); !s.ok()) return s;
  if (reader != hosting_.self()) return ok_status();
  LineEntry& part = *whole.parts.back();
  part.set_output(line);
  part.crossing->types.push_back(types_.id(made.value().whole));
  return ok_status();
}

// ---- an exchange ------------------------------------------------------------

// Adds the exchange of one group as a part of the line.
Status ExchangeDecoder::add(const Line& line, const ExchangePlan& plan,
                            const PieceType& types, LineEntry& whole) {
  auto made =
      comm::make_exchange(plan, *find_op(line.op), hosting_.self(), programs_);
  auto part = std::make_unique<LineEntry>();
  part->action = Action::kExchange;
  part->set_text(line);
  made->text = part->text;
  made->op_column = part->op_column;
  made->op = line.op;
  made->value = full_name(first_name(line)->text, first_name(line)->ranks);
  part->crossing = std::make_unique<LineExchange>();
  part->crossing->exchange = std::move(made);
  const comm::Exchange& exchange = *part->crossing->exchange;
  for (const comm::Export& shown : exchange.parts[0].exports) {
    const int64_t rank = plan.sources()[shown.source];
    add_shown(line, full_name(first_name(line)->text, std::to_string(rank)),
              *types(0, rank), *part);
  }
  const std::vector<comm::Target>& targets = exchange.parts.back().targets;
  for (uint32_t t = 0; t < targets.size(); ++t) {
    for (const int64_t rank : plan.results(targets[t].target)) {
      add_made(full_name(line.results[0].text, std::to_string(rank)), t,
               targets[t].output, *part);
    }
  }
  whole.parts.push_back(std::move(part));
  return ok_status();
}

// Adds a register that other workers read, or the reason why they cannot.
void ExchangeDecoder::add_shown(const Line& line, const std::string& name,
                                const Type& type, LineEntry& entry) {
  const Register* r = registers_.value_of(name);
  LineOperand operand;
  std::string fault;
  if (r == nullptr) {
    fault = std::string(line.op) + ": unknown name '" + name + "'";
  } else if (!r->has_failed() && !(pieces_.type_of(*r) == type)) {
    fault = std::string(line.op) + ": " + name + " is " +
            to_string(pieces_.type_of(*r)) + ", but #pieces= says " +
            to_string(type);
  } else {
    operand = operand_of(registers_, *r);
  }
  entry.operands.push_back(operand);
  entry.crossing->faults.push_back(std::move(fault));
}

void ExchangeDecoder::add_made(const std::string& name, uint32_t target,
                               const Type& type, LineEntry& entry) {
  entry.results.push_back(result_of(registers_, name));
  entry.crossing->types.push_back(types_.id(type));
  entry.crossing->targets.push_back(target);
}

bool ExchangeDecoder::is_moved(const Line& line) {
  return statement_of(line.op) == Statement::kSave &&
         line.note("to") != nullptr;
}

Status ExchangeDecoder::decode_transfer(const Line& line, LineEntry& entry) {
  const bool saves = statement_of(line.op) == Statement::kSave;
  if (line.operands.size() != (saves ? 2 : 1) ||
      line.results.size() != (saves ? 0 : 1) || first_name(line) == nullptr) {
    return at_op(line, saves ? "usage: save x \"PATH\"" : "usage: y = copy x");
  }
  const Operand& operand = line.operands[0];
  const std::string value = full_name(operand.text, operand.ranks);
  const auto from = workers_of_note(line, "from", hosting_.workers());
  if (!from.ok()) return from.error();
  const auto to = workers_of_note(line, "to", hosting_.workers());
  if (!to.ok()) return to.error();
  const auto types = types_of_note(line, 1);
  if (!types.ok()) return types.error();
  const Type& type = types.value()[0];
  auto made = comm::make_exchange(
      comm::Transfer{from.value()[0], to.value(), type, "'" + value + "'"},
      hosting_.self());
  entry.set_text(line);
  made->text = entry.text;
  made->op_column = entry.op_column;
  made->op = line.op;
  made->value = value;
  entry.crossing = std::make_unique<LineExchange>();
  entry.crossing->exchange = std::move(made);
  const comm::Part& part = entry.crossing->exchange->parts[0];
  if (!part.exports.empty()) {
    add_shown(line, value, type, entry);
  }
  if (!part.targets.empty() && saves) {
    entry.set_output(line);
    entry.crossing->types.push_back(types_.id(type));
  } else if (!part.targets.empty()) {
    add_made(std::string(line.results[0].text), 0, type, entry);
  }
  return ok_status();
}

}  // namespace gt::exec
