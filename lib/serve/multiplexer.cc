#include "serve/multiplexer.h"

#include <malloc.h>

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "net/wire.h"
#include "stream/line.h"
#include "stream/marks.h"

namespace gt::serve {
namespace {

using net::Verb;

// Gives the system what a client has held, if that is much: malloc keeps it for
// as long as something small lies behind it.
void give_back_memory() {
  constexpr size_t kMuch = size_t{16} << 20;
  if (::mallinfo2().fordblks > kMuch) ::malloc_trim(0);
}

}  // namespace

Multiplexer::Multiplexer(MultiplexerOptions options, DiskThreads& disk, Out out)
    : options_(std::move(options)), disk_(disk), out_(std::move(out)) {}

Multiplexer::Client* Multiplexer::find(ClientId id) {
  const auto at = clients_.find(id);
  return at == clients_.end() ? nullptr : &at->second;
}

void Multiplexer::come(ClientId id, const ClientHello& hello) {
  const auto of_user = options_.shares.find(hello.user);
  const double share = of_user == options_.shares.end() ? 1 : of_user->second;
  scheduler_.add(id, share);
  emit::ProgramOptions options;
  options.session.seed = hello.seed;
  options.session.fail_fast = hello.fails_fast;
  options.session.history =
      static_cast<size_t>(std::min(hello.history, options_.most_history));
  options.replay = hello.replays;
  const bool has_files = !options_.files.empty() && !hello.user.empty();
  const std::string below = "/" + hello.user + "/";
  const std::string& lent =
      options_.lend.empty() ? options_.files : options_.lend;
  options.session.files = has_files ? options_.files + below : "";
  options.session.no_files =
      options_.files.empty()
          ? "this gt-emit lends its clients no files; whoever runs it can, "
            "with --files DIR, as gt-cluster up --files DIR does"
          : "this gt-emit knows no user behind this key; whoever runs it can "
            "say user=NAME behind the key in --allow";
  options.session.is_client = true;
  options.session.quota = options_.quota;
  options.session.region = options_.region;
  options.begin_long_work = out_.begin_long_work;
  Client& client = clients_.try_emplace(id, options_.window).first->second;
  client.user = hello.user;
  client.share = share;
  client.has_name = !hello.name.empty();
  client.stays = hello.stays;
  client.program = std::make_unique<ClientProgram>(
      options,
      NameSpace("c" + std::to_string(id), has_files ? lent + below : ""),
      options_.blocks,
      [this, id](std::string_view text) { tell(id, Exit::kDone, text); },
      has_files ? &disk_ : nullptr);
}

Status Multiplexer::come_back(ClientId id, const ClientHello& hello) {
  Client* client = find(id);
  if (client == nullptr) return ok_status();
  client->presence = Presence::kHere;
  if (hello.visit != 0) {
    Status resumed = client->unread.resume(hello.results, hello.reports);
    if (!resumed.ok()) return resumed;
    // The client may not have received the last message, so it is sent again.
    if (client->parted) {
      client->presence = Presence::kAway;
      out_.part(id, *client->parted);
      return ok_status();
    }
  } else {
    client->stays = hello.stays;
    client->has_ended = false;
    client->parted.reset();
    client->unread.begin_visit();
    client->program->cut_input();
  }
  look(id, *client);
  send_unread(id, *client);
  settle(id);
  return ok_status();
}

Status Multiplexer::take(ClientId id, const net::Message& message) {
  Client* client = find(id);
  if (client == nullptr) return ok_status();
  switch (message.verb) {
    case Verb::kInput:
      begin_input(id, *client, message);
      break;
    case Verb::kText:
      client->program->push(message.body);
      break;
    case Verb::kEnd:
      end_visit(*client);
      break;
    case Verb::kTaken: {
      const Status taken =
          client->unread.take(net::number(message, "bytes").value(),
                              net::number(message, "reports").value());
      if (!taken.ok()) return taken;
      send_unread(id, *client);
      break;
    }
    default:
      break;
  }
  look(id, *client);
  settle(id);
  return ok_status();
}

void Multiplexer::begin_input(ClientId id, Client& client,
                              const net::Message& message) {
  if (!client.program->takes_more()) {
    tell(
        id, Exit::kRejected,
        "gt-emit: the program of this client has ended; what is sent to it now "
        "is not run\n");
  }
  client.program->begin_input(message.text("name"), message.text("at") == "1",
                              net::NumberReader(message).find("lines"));
}

// The program of a client that stays goes on with the next visit.
void Multiplexer::end_visit(Client& client) {
  client.has_ended = true;
  client.program->end_input();
  if (!client.stays) client.program->end();
}

void Multiplexer::go_away(ClientId id) {
  Client* client = find(id);
  if (client != nullptr) client->presence = Presence::kAway;
}

void Multiplexer::say_goodbye(ClientId id) {
  Client* client = find(id);
  if (client == nullptr) return;
  if (client->stays) return part(id, *client);
  out_.bye(id, client->status);
  leave(id);
}

void Multiplexer::leave(ClientId id) {
  Client* client = find(id);
  if (client == nullptr) return;
  client->presence = Presence::kGone;
  client->unread.clear();
  if (client->state == State::kRuns) client->program->drop();
  look(id, *client);
  settle(id);
}

Multiplexer::View Multiplexer::view(ClientId id, const Client& client) const {
  const std::string_view state = client.presence == Presence::kGone   ? "gone"
                                 : client.state == State::kEnds       ? "ends"
                                 : client.presence == Presence::kAway ? "away"
                                                                      : "here";
  constexpr double kSecond = 1e9;  // nanoseconds
  return {client.user,
          state,
          client.share,
          scheduler_.under_way(id),
          scheduler_.unfinished(id),
          static_cast<uint64_t>(scheduler_.service(id) * kSecond),
          client.program->has_block(),
          client.program->usage(),
          client.unread.bytes()};
}

// ---- what goes out ----------------------------------------------------------

// Tells the scheduler whether the client is ready: it has a block to send and
// may do so, or its program is to be ended.
void Multiplexer::look(ClientId id, Client& client) {
  const bool has_block =
      client.program->has_block() || client.program->is_over();
  const bool may = client.unread.bytes() <= options_.most_unread;
  scheduler_.set_ready(id, client.state == State::kRuns && has_block && may);
}

bool Multiplexer::work() {
  bool has_worked = false;
  auto at = clients_.lower_bound(turn_);
  for (size_t left = clients_.size(); left > 0; --left) {
    if (at == clients_.end()) at = clients_.begin();
    const ClientId id = at->first;
    Client& client = at->second;
    ++at;
    if (client.state != State::kRuns || client.program->has_block()) continue;
    if (out_.is_late()) {
      turn_ = id;
      return true;
    }
    const uint64_t before = client.program->bytes_read();
    client.program->work(out_.is_late);
    has_worked = has_worked || client.program->bytes_read() != before ||
                 client.program->has_block();
    look(id, client);
    settle(id);
  }
  return has_worked;
}

bool Multiplexer::next_block(std::string& out, int64_t now) {
  const auto next = scheduler_.next();
  if (!next) return false;
  const ClientId id = *next;
  Client& client = clients_.at(id);
  if (!client.program->has_block()) {
    end(client, out);
    scheduler_.sent(id, 0, now);
  } else {
    const Block block = client.program->take_block();
    out += block.text;
    scheduler_.sent(id, block.cost, now);
  }
  ++client.unsynced;
  sync(id, client, out);
  client.program->work(out_.is_late);
  look(id, client);
  return true;
}

// Appends a #sync line, whose answer says that everything the client has sent
// is done.
void Multiplexer::sync(ClientId id, Client& client, std::string& out) {
  out += kSyncHead;
  out += "c" + std::to_string(id) + "/" + std::to_string(++client.syncs);
  out += '\n';
  client.blocks.push_back(std::exchange(client.unsynced, 0));
}

// Appends what follows the last line of a client.
void Multiplexer::end(Client& client, std::string& out) {
  client.state = State::kEnds;
  client.status = worst(client.status, client.program->finish(out));
}

// ---- what comes back --------------------------------------------------------

Multiplexer::Client* Multiplexer::find(std::string_view space, ClientId& id) {
  if (!space.starts_with('c') || !read_number(space.substr(1), id)) {
    return nullptr;
  }
  const auto at = clients_.find(id);
  return at == clients_.end() ? nullptr : &at->second;
}

void Multiplexer::take_back(std::string_view line, int64_t now) {
  if (const auto report = report_of(line)) return take_report(*report);
  ClientId id = 0;
  Client* client = find(space_of_result(line), id);
  if (client == nullptr) return;
  if (line.starts_with(kSyncHead)) {
    const std::string_view word = line.substr(line.find('/') + 1);
    if (!word.starts_with(kSyncOfClient)) {
      return take_sync(id, *client, word, now);
    }
    return give(id, *client,
                std::string(kSyncHead) + std::string(word.substr(1)) + "\n");
  }
  const NameSpace& space = client->program->space();
  // Only the name of a tensor can be in the name space; the line may be long,
  // so the rest is not searched.
  const size_t head = std::min(line.find(" = tensor "), line.size());
  std::string result = space.leave(line.substr(0, head));
  result += line.substr(head);
  result += '\n';
  give(id, *client, result);
}

void Multiplexer::give(ClientId id, Client& client, std::string_view result) {
  if (client.presence == Presence::kGone) return;
  client.unread.add_results(result);
  send_unread(id, client);
  look(id, client);
}

void Multiplexer::take_sync(ClientId id, Client& client, std::string_view word,
                            int64_t now) {
  uint64_t number = 0;
  if (!read_number(word, number) || number != client.answered + 1 ||
      client.blocks.empty()) {
    return;
  }
  client.answered = number;
  scheduler_.done(id, client.blocks.front(), now);
  client.blocks.pop_front();
  look(id, client);
  settle(id);
}

// Sends the last message to a client, or to its visit, once all of its program
// is done and its results were sent. If the client may come back, it must have
// received them.
void Multiplexer::settle(ClientId id) {
  Client& client = clients_.at(id);
  const bool is_done = client.answered == client.syncs && client.unsynced == 0;
  const bool has_all =
      client.has_name ? client.unread.is_taken() : client.unread.is_sent();
  if (!is_done || !has_all) return;
  if (client.state == State::kRuns) {
    const bool waits = client.stays && client.has_ended && !client.parted &&
                       client.presence == Presence::kHere;
    if (waits && client.program->is_idle()) part(id, client);
    return;
  }
  if (client.presence != Presence::kGone) out_.bye(id, client.status);
  scheduler_.remove(id);
  clients_.erase(id);
  give_back_memory();
}

// Ends a visit of a client that is kept.
void Multiplexer::part(ClientId id, Client& client) {
  client.presence = Presence::kAway;
  client.status = worst(client.status, client.program->take_status());
  client.parted = std::exchange(client.status, Exit::kDone);
  out_.part(id, *client.parted);
}

void Multiplexer::take_report(const ReportMark& report) {
  ClientId id = 0;
  Client* client = find(report.space, id);
  if (client == nullptr) return;
  client->status = worst(client->status, report.status);
  tell(id, report.status, client->program->space().leave(report.text));
}

void Multiplexer::tell(ClientId id, Exit status, std::string_view text) {
  Client* client = find(id);
  if (client == nullptr || client->presence == Presence::kGone) return;
  client->unread.add_report(status, text);
  send_unread(id, *client);
}

void Multiplexer::send_unread(ClientId id, Client& client) {
  if (client.presence != Presence::kHere) return;
  client.unread.send(
      [this, id](std::string message) { out_.send(id, std::move(message)); });
}

}  // namespace gt::serve
