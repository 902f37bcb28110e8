// The slow path: a line that was not seen before, or whose types changed.
#include <algorithm>

#include "base/hash.h"
#include "file/stored.h"
#include "ops/suggest.h"
#include "ops/table.h"
#include "route/costs.h"
#include "route/dispatcher.h"
#include "spmd/labels.h"
#include "stream/ranks.h"

namespace gt {
namespace {

using Action = Route::Action;

bool is_ours(std::string_view note) {
  return note == "from" || note == "to" || note == "pieces";
}

}  // namespace

void Dispatcher::decode(std::string_view text, const NotedText& parts,
                        uint64_t hash) {
  constexpr size_t kLongLine = size_t{1} << 20;
  decode_parsed(text, parts, hash);
  if (text.size() < kLongLine) return;
  // What a literal of millions of numbers took is not kept.
  line_ = Line{};
  call_ = Call{};
  operand_types_ = {};
  found_ = {};
}

void Dispatcher::decode_parsed(std::string_view text, const NotedText& parts,
                               uint64_t hash) {
  ++decoded_;
  if (types_.size() > kMaxTypes) reset_tables();
  homes_.begin_line();
  if (Status s = parse_line(text, line_); !s.ok()) {
    return reject_line(s.error(), text);
  }
  if (has_our_notes()) {
    std::erase_if(line_.notes,
                  [](const Note& note) { return is_ours(note.key); });
    std::string again;  // line_ points into `text`
    append_line(again, line_);
    return decode_parsed(again, split_notes(again), hash_bytes(again));
  }
  if (is_declaration(statement_of(line_.op))) return declare(text);
  auto route = std::make_unique<Route>();
  route->notes = parts.notes;
  route->is_placed = is_placed(line_);
  const Status s =
      route->is_placed ? route_placed(*route) : route_plain(*route);
  if (!s.ok()) return reject_line(s.error(), text);
  route->mesh_version = meshes_.version();
  if (!route->instead.has_value()) {
    act(*route, parts);
    // A failure holds only now.
    if (route->failure == nullptr) keep(std::move(route), parts.text, hash);
  } else if (!route->instead->empty()) {
    act(*route, {*route->instead, {}, true});
  }
}

// Notes of ours in what comes in, from a log: they told of other workers.
bool Dispatcher::has_our_notes() const {
  return std::any_of(line_.notes.begin(), line_.notes.end(),
                     [](const Note& note) { return is_ours(note.key); });
}

// Tables that only grow start afresh; the program does not notice.
void Dispatcher::reset_tables() {
  routes_.for_each([](Route* route) { delete route; });
  routes_.forget();
  homes_.renumber_types(types_);
}

// A line is kept when it comes for the second time, so that lines that never
// come again neither fill the table nor push others out.
void Dispatcher::keep(std::unique_ptr<Route> route, std::string_view text,
                      uint64_t hash) {
  if (!caches_ || text.size() > kMaxCachedLine || !seen_.before(hash)) return;
  route->text = text;
  routes_.insert(hash, std::move(route));
}

// Meshes are told to all, and so is where a mesh's ranks are played.
void Dispatcher::declare(std::string_view text) {
  std::string space;
  if (const std::string_view* key = line_.key("space")) space = unquote(*key);
  const std::string first = space.empty() ? "x" : space + "/x";
  const bool is_new = meshes_.space_of(first) != space;
  if (Status s = meshes_.take(line_); !s.ok()) {
    return reject_line(s.error(), text);
  }
  issue(everyone_, text);
  if (statement_of(line_.op) != Statement::kMesh) return;
  if (is_new && homes_.has_pieces_under(space + "/")) {
    tell(everyone_, ranks_.inherit(space, ""));
  }
  const int64_t size = meshes_.of(first)->size();
  Ranks all(static_cast<size_t>(size));
  for (int64_t rank = 0; rank < size; ++rank) {
    all[static_cast<size_t>(rank)] = rank;
  }
  tell(everyone_, ranks_.assign(space, all, size));
}

// ---- unplaced lines ---------------------------------------------------------

Status Dispatcher::find_operands(FailureText& poison) {
  found_.clear();
  operand_types_.clear();
  for (size_t i = 0; i < line_.operands.size(); ++i) {
    const Operand& operand = line_.operands[i];
    HomeId id = kNoHome;
    if (operand.kind == Operand::Kind::kName) {
      id = homes_.find(operand.text);
      if (id == kNoHome) {
        return unknown_name(line_, i, operand.text, homes_.some_live_names());
      }
      if (poison == nullptr) poison = homes_.failure_of(id);
    }
    found_.push_back(id);
    operand_types_.push_back(id == kNoHome || homes_[id].has_failed()
                                 ? nullptr
                                 : &types_[homes_[id].stamp.type]);
  }
  return ok_status();
}

void Dispatcher::add_operand(Route& route, HomeId id) const {
  for (const RouteOperand& known : route.operands) {
    if (known.id == id) return;
  }
  const Home& home = homes_[id];
  const bool has_bytes = !home.ranks && !home.has_failed();
  route.operands.push_back(
      {id, home.stamp, has_bytes ? types_[home.stamp.type].bytes() : 0});
}

void Dispatcher::add_result(Route& route, HomeId id, TypeNumbers::Id type) {
  const bool has_bytes = !homes_[id].ranks && type != TypeNumbers::kFailed;
  route.results.push_back({id, homes_[id].stamp.generation, type,
                           has_bytes ? types_[type].bytes() : 0});
}

Status Dispatcher::route_plain(Route& route) {
  if (Status s = check_emitted(line_); !s.ok()) return s;
  const Statement statement = statement_of(line_.op);
  if (statement == Statement::kFail) return route_fail(route);
  FailureText poison;
  // An unknown op is said before an unknown name.
  if (find_op(line_.op) != nullptr) {
    if (Status s = find_operands(poison); !s.ok()) return s;
  }
  const bool gives = is_output(statement);
  if (poison != nullptr && !gives && statement != Statement::kFree) {
    route_poisoned(route, std::move(poison));
    return ok_status();
  }
  if (gives) return route_output(route);
  if (Status s = gt::bind(line_, operand_types_, call_); !s.ok()) return s;
  for (const HomeId id : found_) {
    if (id != kNoHome) add_operand(route, id);
  }
  if (statement == Statement::kFree) {
    route.action = Action::kFree;
    return ok_status();
  }
  route.cost = line_cost(call_);
  for (size_t r = 0; r < line_.results.size(); ++r) {
    add_result(route, homes_.obtain(line_.results[r].text),
               types_.intern(call_.results[r]));
  }
  if (statement == Statement::kLoad) {
    route.paths.emplace_back(unquote(line_.operands[0].text), false,
                             std::vector<uint32_t>());
  }
  route.makes = route.operands.empty() && route.results.size() == 1;
  return ok_status();
}

Status Dispatcher::route_output(Route& route) {
  route.action = Action::kGive;
  const HomeId id = found_.empty() ? kNoHome : found_[0];
  const bool failed = id != kNoHome && homes_[id].has_failed();
  if (!failed) {
    if (Status s = gt::bind(line_, operand_types_, call_); !s.ok()) return s;
    route.cost = line_cost(call_);
  }
  if (id == kNoHome) {
    return Error{std::string(line_.op) + ": expected a tensor's name",
                 line_.op_column};
  }
  add_operand(route, id);
  if (statement_of(line_.op) == Statement::kPrint) {
    const std::string_view* as = line_.key("as");
    if (as != nullptr && !is_name(unquote(*as))) {
      return Error{"print: as=" + std::string(*as) + " is not a name",
                   line_.keys[0].column};
    }
    const Type* type = failed ? nullptr : &types_[homes_[id].stamp.type];
    route.owed.push_back({0, result_head(print_label(line_), type) + "\n"});
    route.owed_bytes = kPrintedBytes * (failed ? 1 : type->elements());
  } else if (line_.operands.size() > 1) {
    route.paths.emplace_back(unquote(line_.operands[1].text), true,
                             std::vector<uint32_t>());
  }
  return ok_status();
}

// `x y = fail "..."` in the stream.
Status Dispatcher::route_fail(Route& route) {
  if (line_.operands.size() != 1 ||
      line_.operands[0].kind != Operand::Kind::kString || !line_.keys.empty() ||
      line_.results.empty()) {
    const std::vector<const Type*> none(line_.operands.size(), nullptr);
    if (Status s = gt::bind(line_, none, call_); !s.ok()) return s;
    return Error{"fail: usage: y... = fail message", line_.op_column};
  }
  route.action = Action::kFail;
  route.failure =
      std::make_shared<const std::string>(unquote(line_.operands[0].text));
  for (const Name& name : line_.results) {
    add_result(route, homes_.obtain(name.text), TypeNumbers::kFailed);
  }
  return ok_status();
}

// An operand failed, so the results are that failure; nobody computes.
void Dispatcher::route_poisoned(Route& route, FailureText poison) {
  route.action = Action::kFail;
  std::string& instead = route.instead.emplace();
  for (const Name& name : line_.results) {
    instead.append(name.text).append(" ");
    add_result(route, homes_.obtain(name.text), TypeNumbers::kFailed);
  }
  if (!instead.empty()) instead += "= fail " + quote(*poison);
  route.failure = std::move(poison);
}

// ---- failure ----------------------------------------------------------------

void Dispatcher::reject(std::string_view beginning, const std::string& message,
                        uint64_t number) {
  source_.line = number;
  end_rounds();
  line_ = Line{};
  reject_line({message, 0}, beginning);
}

// Where gt-emit read the line; else where we did.
Place Dispatcher::place_of_line() {
  const std::string_view* note = line_.note("at");
  if (note == nullptr) return {file(), source_.line};
  at_ = parse_place(*note);
  return {at_.file, at_.line};
}

void Dispatcher::say_once(const Error& error, std::string_view text) {
  const Place place = place_of_line();
  if (!reported_.is_first(place, error.message, text)) return;
  // People are shown what they wrote, without a mark of ours.
  messages_(
      format_error("gt-route", place, error, text == marked_ ? came_ : text));
}

// Said once for its place; results are failures, and a print is answered.
void Dispatcher::reject_line(const Error& error, std::string_view text) {
  say_once(error, text);
  status_ = worst(status_, Exit::kRejected);
  const auto why = std::make_shared<const std::string>(
      to_string(place_of_line()) + ": " + error.message);
  const Line line = line_;  // its names are bound one by one
  for (const Name& name : line.results) fail_name(name, why);
  if (statement_of(line.op) != Statement::kPrint) return;
  for (const std::string& label : print_labels(line)) {
    results_.add(label + " = fail " + quote(*why));
  }
}

void Dispatcher::fail_name(const Name& name, const FailureText& why) {
  Route route;
  route.action = Action::kFail;
  route.failure = why;
  const std::string text =
      full_name(name.text, name.ranks) + " = fail " + quote(*why);
  if (name.ranks.empty()) {
    add_result(route, homes_.obtain(name.text), TypeNumbers::kFailed);
  } else {
    const auto ranks = parse_ranks(name.ranks);
    if (!ranks.ok()) return;
    route.is_placed = true;
    space_ = meshes_.space_of(name.text);
    mesh_ = meshes_.of(name.text);
    if (!place_ranks(ranks.value(), route).ok()) return;
    add_result(route, homes_.obtain_piece(name.text, ascending(ranks.value())),
               TypeNumbers::kFailed);
  }
  act(route, {text, {}, true});
}

}  // namespace gt
