#include "route/run_recorder.h"

#include <algorithm>
#include <cstdio>

#include "base/clock.h"
#include "ops/table.h"
#include "stream/ranks.h"

namespace gt::route {
namespace {

// The microseconds after which a worker that has something to do and has not
// moved gets another row `progress`. So a log without new rows is one that
// nobody writes to any longer.
constexpr uint64_t kSilence = 1'000'000;

// Returns the first line of a message for people.
std::string_view first_line(std::string_view text) {
  return text.substr(0, text.find('\n'));
}

// Returns the client of an instruction, "c1" for "c1/x = ..." and for "print
// c1/x": the text before the first '/' of the first name. That name is the
// first word, or the one behind the op of a line without results.
std::string_view client_of(std::string_view text) {
  const size_t blank = std::min(text.find(' '), text.size());
  const std::string_view rest = text.substr(std::min(blank + 1, text.size()));
  const bool has_result =
      rest.starts_with('=') ||
      statement_of(text.substr(0, blank)) == Statement::kCompute;
  const std::string_view name = has_result ? text : rest;
  const size_t end = name.find_first_of(" /");
  return end < name.size() && name[end] == '/' ? name.substr(0, end) : "-";
}

std::string_view sent_as(net::Verb verb) {
  return verb == net::Verb::kLines ? "text" : name_of(verb);
}

}  // namespace

RunRecorder::RunRecorder(int fd)
    : aside_(fd < 0 ? nullptr
                    : std::make_unique<Aside>(fd, Aside::Failure::kStop)),
      rows_(!aside_ ? LogRows::Sink() : [aside = aside_.get()](auto rows) {
        aside->write(rows);
        return aside->errno_value();
      }),
      is_on_(fd >= 0) {}

void RunRecorder::issue(const Issue& issue) {
  if (!is_on_) return;
  last_ = issue.seq;
  if (peers_of_ != *issue.workers) {
    peers_of_ = *issue.workers;
    peers_ =
        to_string(std::vector<int64_t>(peers_of_.begin(), peers_of_.end()));
    if (peers_.empty()) peers_ = "-";
  }
  if (issue.kind == Issue::Kind::kInstruction) {
    const std::string_view client = client_of(issue.text);
    note_client(issue.seq, client);
    return rows_.add(now_, issue.seq, "issue", peers_, client,
                     issue.text.size() + 1, issue.text);
  }
  std::string text(issue.text);
  if (!text.starts_with('#')) text.insert(0, "# ");
  rows_.add(now_, issue.seq, "comment", peers_, "-", issue.text.size() + 1,
            text);
}

void RunRecorder::add(uint64_t seq, std::string_view event, uint32_t worker,
                      uint64_t bytes, const LogComment& comment,
                      std::string_view client) {
  const std::string peer = worker == UINT32_MAX ? "-" : std::to_string(worker);
  rows_.add(now_, seq, event, peer, client, bytes, comment.text());
}

void RunRecorder::attach(uint32_t worker, const net::WorkerInfo& info,
                         uint64_t epoch) {
  if (!is_on_) return;
  LogComment comment;
  comment.word("name", info.name).word("host", info.host);
  comment.word("pid", info.pid).word("threads", info.threads);
  comment.word("isa", info.isa).word("backend", info.backend);
  add(last_, "attach", worker, 0, comment.word("epoch", epoch));
}

void RunRecorder::send(uint32_t worker, uint64_t first, uint64_t last,
                       size_t bytes, net::Verb verb) {
  if (!is_on_) return;
  worker_of(worker).sent = last;
  add(last, "send", worker, bytes,
      LogComment().word("first", first).word("as", sent_as(verb)));
}

RunRecorder::Worker& RunRecorder::worker_of(uint32_t worker) {
  if (workers_.size() <= worker) workers_.resize(worker + 1);
  return workers_[worker];
}

// The rows of ran() have already said which messages were finished; a row of
// this function says how far the worker is within one.
void RunRecorder::done(uint32_t worker, const net::WorkerStatus& status) {
  if (!is_on_) return;
  Worker& of = worker_of(worker);
  const uint64_t now = wall_us();
  const bool is_behind = of.done < of.sent && now - of.told >= kSilence;
  if (status.done_seq > of.done || is_behind) {
    add(status.done_seq, "progress", worker, 0, LogComment());
    of.done = std::max(of.done, status.done_seq);
    of.told = now;
  }
  if (status.waits_for.empty()) return;
  LogComment comment;
  comment.word("since", LogTime::of(wall_us() - status.waits_ms * 1000));
  const std::string_view peer = net::worker_named(status.waits_for);
  if (!peer.empty()) comment.word("for", peer);
  const uint64_t at =
      status.waits_at == 0 ? status.done_seq + 1 : status.waits_at;
  add(at, "wait", worker, 0, comment.words(status.waits_for), client_at(at));
}

void RunRecorder::full(uint32_t worker, int64_t since_ms) {
  const bool is_reader = worker == net::kNoWorker;
  LogComment comment;
  comment.word("since",
               LogTime::of(wall_us() - static_cast<uint64_t>(since_ms) * 1000));
  comment.word("for", is_reader ? "reader" : std::to_string(worker));
  comment.words(is_reader ? "results are not read" : "it has no room for more");
  add(last_, "wait", UINT32_MAX, 0, comment);
}

Status RunRecorder::ran(uint32_t worker, const net::Message& message) {
  if (!is_on_) return ok_status();
  net::NumberReader numbers(message);
  const uint64_t time = numbers.need("time");
  const net::ToldTime answered{numbers.need("told"), numbers.need("heard")};
  if (!numbers.status().ok()) return numbers.status();
  const auto rows = net::parse_ran(message.body);
  if (!rows.ok()) return rows.error();
  net::ClockOffset& clock = worker_of(worker).clock;
  clock.take(time, wall_us(), answered);
  for (const net::RanRow& row : rows.value())
    add_ran(worker, row, clock.value());
  return ok_status();
}

void RunRecorder::add_ran(uint32_t worker, const net::RanRow& row,
                          int64_t offset) {
  const auto shift = static_cast<uint64_t>(offset);
  const LogTime begin = LogTime::of(row.begin + shift);
  const LogTime end = LogTime::of(row.end + shift);
  LogComment comment;
  if (row.kind == net::RanRow::Kind::kTransfer) {
    comment.word("from", row.from).word("begin", begin).word("end", end);
    if (!row.name.empty()) comment.word("name", row.name);
    return add(row.last, "transfer", worker, row.bytes, comment,
               client_at(row.last));
  }
  const bool is_compute = row.kind == net::RanRow::Kind::kCompute;
  comment.word("queue", is_compute ? "compute" : "comm");
  comment.word("first", row.first).word("begin", begin).word("end", end);
  if (is_compute) {
    worker_of(worker).done = row.last;
    worker_of(worker).told = wall_us();
  }
  add(row.last, "done", worker, 0, comment);
}

void RunRecorder::result(uint32_t worker, uint64_t seq, std::string_view line) {
  const std::string_view name = line.substr(0, line.find(' '));
  add(seq, "result", worker, line.size(), LogComment().word("name", name),
      client_at(seq));
}

// Notes which client the instructions from `seq` on belong to.
void RunRecorder::note_client(uint64_t seq, std::string_view client) {
  if (!turns_.empty() && turns_.back().client == client) return;
  turns_.push_back({seq, std::string(client)});
  if (turns_.size() > kMaxTurns) turns_.pop_front();
}

std::string_view RunRecorder::client_at(uint64_t seq) const {
  auto turn = std::ranges::upper_bound(turns_, seq, {}, &Turn::first);
  return turn == turns_.begin() ? "-" : std::string_view((--turn)->client);
}

void RunRecorder::report(uint32_t worker, uint64_t seq, uint64_t status,
                         std::string_view text) {
  if (!is_on_) return;
  add(seq, "report", worker, 0,
      LogComment().word("status", status).error(first_line(text)),
      client_at(seq));
}

void RunRecorder::lost(uint32_t worker, uint64_t seq, std::string_view why) {
  if (!is_on_) return;
  add(seq, "lost", worker, 0,
      LogComment().word("status", uint64_t{4}).error(first_line(why)));
}

void RunRecorder::bye(uint32_t worker, uint64_t seq, uint64_t status) {
  if (!is_on_) return;
  add(seq, "bye", worker, 0, LogComment().word("status", status));
}

void RunRecorder::end(Exit status) {
  if (!is_on_) return;
  add(last_, "end", UINT32_MAX, 0,
      LogComment().word("status", static_cast<uint64_t>(status)));
  flush();
}

}  // namespace gt::route
