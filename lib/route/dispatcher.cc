#include "route/dispatcher.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/hash.h"
#include "base/message.h"
#include "net/control_lines.h"
#include "ops/table.h"
#include "route/hot_note.h"
#include "spmd/labels.h"

namespace gt::route {

Dispatcher::Dispatcher(const DispatcherOptions& options, Sequencer::Sink log)
    : hashes_(options.caches || options.hot),
      hot_(options.hot),
      sequencer_(options.workers, std::move(log)),
      builder_(options.workers, locations_, types_),
      cache_(options.caches, options.cache_sets),
      issuer_(locations_, types_, sequencer_),
      // A log has a row for each line, so no round may be skipped.
      loops_(options.caches && !sequencer_.is_logged()) {}

void Dispatcher::set_file(Client& client, std::string_view name) {
  client.set_file(name, sequencer_.next_seq());
  loops_.drop();
}

LoopState Dispatcher::loop_state() const {
  return {sequencer_.next_seq(),
          locations_.carved() + sequencer_.path_changes(), sequencer_.loads(),
          locations_};
}

void Dispatcher::line(Client& client, std::string_view text, uint64_t number) {
  // A sync, or a record of a client, does not change what lines do, so it may
  // stand between the rounds of a loop, or within one.
  if (text.starts_with('#') &&
      (!sync_of(text).empty() || !client_record_of(text).empty())) {
    client.source.line = number;
    return comment(client, text, text);
  }
  loops_.take_text(text);
  if (text.empty()) return;
  const UserId user = client.users.of(text);
  sequencer_.set_user(user);
  client.source.line = number;
  RouteText line{text, split_notes(text), 0, text};
  if (line.parts.text.empty()) return comment(client, text, line.parts.notes);
  ++client.lines;
  client.users.count(user);
  if (hashes_) line.hash = hash_bytes(line.parts.text);
  if (!hot_) return dispatch(client, line);
  const BlockFinder::Step step = loops_.take(line.hash);
  if (step.breaks) sequencer_.outbox().drop_block();
  if (step.begins == 0) {
    dispatch(client, line);
  } else {
    sequencer_.outbox().begin_block();
    loops_.begin_block(text, loop_state());
    dispatch_marked(client, line, step.begins);
  }
  if (!step.ends) return;
  const bool is_whole = sequencer_.outbox().end_block();
  loops_.end_block(is_whole, loop_state());
}

void Dispatcher::repeat(Client& client, uint64_t times) {
  const Round& round = *loops_.repeating();
  for (uint64_t i = 0; i < times; ++i) {
    for (const Round::Owed& owed : round.owed) {
      client.users.results_of(owed.heads)
          .owe(owed.worker, owed.heads, owed.bytes,
               sequencer_.next_seq() + i * round.seqs + owed.seq);
    }
  }
  sequencer_.repeat(times, round.seqs, round.lines, round.costs);
  client.lines += times * round.routes.size();
  client.repeated += times * round.routes.size();
  loops_.begin_round(loop_state());
}

void Dispatcher::cut_saves(const Client& client) {
  sequencer_.end_saves({}, net::kSavesCut, client.source);
}

void Dispatcher::forget_users(Users& users) {
  if (!users.is_split()) return;
  users.forget([this](UserId user) {
    const std::vector<Awaited> given = sequencer_.given_to(user);
    const bool is_idle = std::ranges::all_of(
        given, [this](const Awaited& a) { return has_done(a); });
    if (is_idle) sequencer_.forget(user);
    return is_idle;
  });
}

std::vector<std::string> Dispatcher::users_of(uint32_t worker,
                                              const Users& users) const {
  std::vector<std::string> spaces;
  users.each([&](const std::string& space, UserId user) {
    const std::vector<Awaited> given = sequencer_.given_to(user);
    const bool waits = std::ranges::any_of(given, [&](const Awaited& a) {
      return a.worker == worker && !loads().has_done(worker, a.seq);
    });
    if (waits) spaces.push_back(space);
  });
  return spaces;
}

void Dispatcher::lose(uint32_t worker) {
  loops_.drop();
  locations_.lose(worker);
  sequencer_.loads().lose(worker);
}

void Dispatcher::comment(Client& client, std::string_view text,
                         std::string_view notes) {
  if (notes.empty()) return;
  sequencer_.log_comment(notes, client.source);
  if (const std::string_view sync = sync_of(notes); !sync.empty()) {
    hurries_ = true;
    const UserId user = client.users.of(sync.substr(kSyncHead.size()));
    sequencer_.set_user(user);
    if (!counts_blocks(sync)) {
      issuer_.issue_readers(
          [&](std::string_view name) { return client.users.of(name) == user; });
    }
    sequencer_.end_saves({}, net::kSavesEnd, client.source);
    client.users.results(user).add_after(sync, sequencer_.given_to(user));
  }
  if (const std::string_view told = client_record_of(notes); !told.empty()) {
    return client.told_of.take(told);
  }
  if (asks_reports(notes)) {
    client.users.split();
    set_file(client, kSharedName);
  }
  const Marks::Mark mark = client.marks.take(notes);
  if (mark != Marks::Mark::kNone) loops_.drop();
  if (mark == Marks::Mark::kBadVersion) {
    reject(client, text, std::string(kBadVersionText), client.source.line);
  }
}

// Adds #hot=ID to the first line of a known block, unless there is no blank
// before the line's notes: that is an error, which the added note would hide.
void Dispatcher::dispatch_marked(Client& client, const RouteText& line,
                                 uint32_t block) {
  const NotedText& parts = line.parts;
  if (!parts.is_clean) return dispatch(client, line);
  const std::string text = with_hot(parts, block);
  dispatch(client, {text, split_notes(text), line.hash, line.written});
}

void Dispatcher::dispatch(Client& client, const RouteText& line) {
  const Route* route = cache_.find(line, locations_, builder_.mesh_version());
  if (route == nullptr) {
    loops_.drop();
    decode(client, line, parsed_);
    // Does not keep the memory that a literal of millions of numbers took.
    if (line.text.size() >= kLongLine) parsed_ = Line{};
    return;
  }
  issuer_.act(*route, line.parts, client);
  loops_.add(*route, loads().size(), sequencer_.last_seq());
}

// ---- lines that did not come before -----------------------------------------

void Dispatcher::decode(Client& client, const RouteText& line, Line& parsed) {
  ++decoded_;
  if (types_.size() > kMaxTypes) reset_types();
  locations_.begin_line();
  Status status = parse_line(line.text, parsed);
  if (!status.ok() && line.text != line.written) {
    // Columns refer to the text that is shown.
    status = parse_line(line.written, parsed);
  }
  if (!status.ok()) return reject_line(client, status.error(), line, parsed);
  if (!has_route_notes(parsed)) return build(client, line, parsed);
  drop_route_notes(parsed);
  std::string text;
  append_line(text, parsed);
  const NotedText parts = split_notes(text);
  build(client, {text, parts, hash_bytes(parts.text), line.written}, parsed);
}

void Dispatcher::build(Client& client, const RouteText& line,
                       const Line& parsed) {
  auto route = builder_.build(parsed);
  if (route.ok() && route.value()->action == Route::Action::kDeclare) {
    // Workers must know the mesh before they are told of its ranks.
    sequencer_.issue(sequencer_.everyone(), line.text, client.source);
    return tell_news(client.source);
  }
  tell_news(client.source);
  if (!route.ok()) return reject_line(client, route.error(), line, parsed);
  take_route(client, line, std::move(route.value()));
}

// A route whose results fail is not kept: its operands have failed only this
// time.
void Dispatcher::take_route(Client& client, const RouteText& line,
                            std::unique_ptr<Route> route) {
  if (!route->answer.empty())
    client.users.results_of(route->answer).add(route->answer);
  if (!route->instead.has_value()) {
    issuer_.act(*route, line.parts, client);
    if (route->failure != nullptr) return;
    cache_.keep(line, std::move(route), locations_, builder_.mesh_version());
  } else if (!route->instead->empty()) {
    issuer_.act(*route, {*route->instead, {}, true}, client);
  }
}

void Dispatcher::tell_news(const SourceLine& source) {
  for (const std::string& news : builder_.take_news()) {
    sequencer_.tell(news, source);
  }
}

// Builds the table of types anew, since it only grows. Routes are dropped,
// since they contain numbers of types.
void Dispatcher::reset_types() {
  cache_.clear();
  locations_.renumber_types(types_);
}

// ---- failure ----------------------------------------------------------------

void Dispatcher::reject(Client& client, std::string_view beginning,
                        const std::string& message, uint64_t number) {
  client.source.line = number;
  loops_.drop();
  reject_line(client, {message, 0}, {beginning, {}, 0, beginning}, Line{});
}

// Tells people that the line is wrong, once for each place in the source. The
// place is where gt-emit read the line (#at=), or else where gt-route did. The
// line's results become failures, and a print is answered by a failure.
void Dispatcher::reject_line(Client& client, const Error& error,
                             const RouteText& line, const Line& parsed) {
  const std::string_view* note = parsed.note("at");
  const NotedPlace at =
      note == nullptr ? NotedPlace{*client.source.file, client.source.line}
                      : parse_place(*note);
  const Place place{at.file, at.line};
  client.worsen(Exit::kRejected);
  if (client.reported.is_first(place, error.message, line.written)) {
    client.tell({Exit::kRejected, std::string(outer_space(line.written)),
                 format_error("gt-route", place, error, line.written)});
  }
  const auto why = std::make_shared<const std::string>(to_string(place) + ": " +
                                                       error.message);
  for (const Name& name : parsed.results) fail(client, name, why);
  if (statement_of(parsed.op) != Statement::kPrint) return;
  for (const std::string& label : print_labels(parsed)) {
    client.users.results_of(label).add(label + " = fail " + quote(*why));
  }
}

// Binds the result of a rejected line to a failure, unless nothing can be bound
// to its name.
void Dispatcher::fail(Client& client, const Name& result,
                      const FailureText& why) {
  const std::string message = quote(*why);
  Line line;
  line.kind = Line::Kind::kInstruction;
  line.results.push_back(result);
  line.op = "fail";
  line.operands.push_back({Operand::Kind::kString, 0, message, {}});
  auto route = builder_.build(line);
  tell_news(client.source);
  if (!route.ok()) return;
  route.value()->failure = why;
  std::string text;
  append_instruction(text, line);
  issuer_.act(*route.value(), {text, {}, true}, client);
}

}  // namespace gt::route
