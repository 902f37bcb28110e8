#include "serve/desk.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "net/wire.h"
#include "stream/line.h"
#include "stream/marks.h"

namespace gt::serve {
namespace {

using net::MessageWriter;
using net::Verb;

// Of a client's own "#sync WORD" the word is c7/.WORD in the shared stream, of
// ours c7/NUMBER.
constexpr char kOfClient = '.';

}  // namespace

Desk::Desk(DeskOptions options, Send send, Bye bye)
    : options_(std::move(options)),
      send_(std::move(send)),
      bye_(std::move(bye)) {}

void Desk::come(ClientId id, const Guest& guest) {
  const auto share = options_.shares.find(guest.user);
  scheduler_.add(id, share == options_.shares.end() ? 1 : share->second);
  emit::ProgramOptions options;
  options.session.seed = guest.seed;
  options.session.fail_fast = guest.fails_fast;
  options.session.history =
      static_cast<size_t>(std::min(guest.history, options_.most_history));
  options.replay = guest.replays;
  const std::string files = options_.files.empty() || guest.user.empty()
                                ? ""
                                : options_.files + "/" + guest.user + "/";
  options.session.files = files;
  options.session.is_guest = true;
  options.session.quota = options_.quota;
  clients_[id].program = std::make_unique<ClientProgram>(
      options, NameSpace("c" + std::to_string(id), files), options_.blocks,
      [this, id](std::string_view text) { tell(id, Exit::kDone, text); });
}

Status Desk::take(ClientId id, const net::Message& message) {
  const auto at = clients_.find(id);
  if (at == clients_.end()) return ok_status();
  Client& client = at->second;
  switch (message.verb) {
    case Verb::kInput:
      client.program->begin_input(net::text(message, "name"),
                                  net::text(message, "at") == "1",
                                  net::NumberReader(message).find("lines"));
      break;
    case Verb::kText:
      client.program->push(message.body);
      break;
    case Verb::kEnd:
      client.program->end_input();
      client.program->end();
      break;
    case Verb::kTaken: {
      const uint64_t taken = net::number(message, "bytes").value();
      if (taken > client.sent || taken < client.taken) {
        return Error{"it has read other results than those it was sent"};
      }
      client.taken = taken;
      send_results(id, client);
      look(id, client);
      close_if_over(id);
      return ok_status();
    }
    default:
      break;
  }
  look(id, client);
  return ok_status();
}

void Desk::leave(ClientId id) {
  const auto at = clients_.find(id);
  if (at == clients_.end()) return;
  Client& client = at->second;
  client.is_here = false;
  client.results = {};
  client.gone = 0;
  if (client.state == State::kRuns) client.program->drop();
  look(id, client);
  close_if_over(id);
}

// ---- what goes out ----------------------------------------------------------

// Whether the client has a block to send and may, or is to be ended.
void Desk::look(ClientId id, Client& client) {
  const uint64_t unread = client.waiting() + (client.sent - client.taken);
  const bool has_block =
      client.program->has_block() || client.program->is_over();
  const bool may = !client.is_here || unread <= options_.most_unread;
  scheduler_.set_ready(id, client.state == State::kRuns && has_block && may);
}

bool Desk::work() {
  bool has_worked = false;
  for (auto& [id, client] : clients_) {
    if (client.state != State::kRuns || client.program->has_block()) continue;
    const uint64_t before = client.program->bytes_read();
    client.program->work();
    has_worked = has_worked || client.program->bytes_read() != before ||
                 client.program->has_block();
    look(id, client);
  }
  return has_worked;
}

bool Desk::next_block(std::string& out, int64_t now) {
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
  client.program->work();
  look(id, client);
  return true;
}

// Asks to be told when all that the client has sent is done.
void Desk::sync(ClientId id, Client& client, std::string& out) {
  out += kSyncHead;
  out += "c" + std::to_string(id) + "/" + std::to_string(++client.syncs);
  out += '\n';
  client.blocks.push_back(std::exchange(client.unsynced, 0));
}

// Behind the last line of a client.
void Desk::end(Client& client, std::string& out) {
  client.state = State::kEnds;
  client.status = worst(client.status, client.program->finish(out));
}

// ---- what comes back --------------------------------------------------------

Desk::Client* Desk::find(std::string_view space, ClientId& id) {
  if (!space.starts_with('c') || !read_number(space.substr(1), id)) {
    return nullptr;
  }
  const auto at = clients_.find(id);
  return at == clients_.end() ? nullptr : &at->second;
}

void Desk::take_back(std::string_view line, int64_t now) {
  if (const auto report = report_of(line)) return take_report(*report);
  ClientId id = 0;
  Client* client = find(space_of_result(line), id);
  if (client == nullptr) return;
  if (line.starts_with(kSyncHead)) {
    const std::string_view word = line.substr(line.find('/') + 1);
    if (!word.starts_with(kOfClient)) {
      return take_sync(id, *client, word, now);
    }
    give(id, *client,
         std::string(kSyncHead) + std::string(word.substr(1)) + "\n");
    return;
  }
  const NameSpace& space = client->program->space();
  // Of a tensor the name alone can be of the name space, and it may be long.
  const size_t head = std::min(line.find(" = tensor "), line.size());
  std::string result = space.leave(line.substr(0, head));
  result += line.substr(head);
  result += '\n';
  give(id, *client, result);
}

void Desk::give(ClientId id, Client& client, std::string_view result) {
  if (!client.is_here) return;
  client.results += result;
  send_results(id, client);
  look(id, client);
}

void Desk::take_sync(ClientId id, Client& client, std::string_view word,
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
  close_if_over(id);
}

// Once all of a client's program is done, and its results were sent.
void Desk::close_if_over(ClientId id) {
  const Client& client = clients_.at(id);
  if (client.state != State::kEnds || client.answered < client.syncs ||
      client.waiting() > 0) {
    return;
  }
  if (client.is_here) bye_(id, client.status, "");
  scheduler_.remove(id);
  clients_.erase(id);
}

void Desk::take_report(const ReportMark& report) {
  ClientId id = 0;
  Client* client = find(report.space, id);
  if (client == nullptr) return;
  client->status = worst(client->status, report.status);
  tell(id, report.status, client->program->space().leave(report.text));
}

void Desk::tell(ClientId id, Exit status, std::string_view text) {
  MessageWriter message(Verb::kReport);
  message.field("status", static_cast<uint64_t>(status));
  send_(id, message.finish(net::words(text)));
}

// As far as the client reads them.
void Desk::send_results(ClientId id, Client& client) {
  for (;;) {
    const uint64_t room = options_.window - (client.sent - client.taken);
    const size_t bytes =
        std::min<uint64_t>({room, net::kMaxBody, client.waiting()});
    if (bytes == 0) break;
    const std::string_view part =
        std::string_view(client.results).substr(client.gone, bytes);
    send_(id, MessageWriter(Verb::kResults).finish(part));
    client.sent += bytes;
    client.gone += bytes;
  }
  if (client.gone < client.results.size() / 2) return;
  client.results.erase(0, client.gone);
  client.gone = 0;
}

}  // namespace gt::serve
