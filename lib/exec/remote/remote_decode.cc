// The thread that decodes what gt-route sends.
#include <utility>

#include "exec/comm/peer_link.h"
#include "exec/remote/remote_session_state.h"
#include "stream/line.h"

namespace gt {
namespace {

using std::chrono::milliseconds;

// While there is more to do, what is done is told at most so often, or when it
// is so much: each time wakes a thread here and gt-route, and takes them the
// processor that computes.
constexpr int64_t kSoon = 20;  // milliseconds
constexpr uint64_t kMuchDone = uint64_t{256} << 10;
constexpr size_t kMostPlace = 512;  // bytes that a report tells of a place

std::vector<PeerAddress> addresses_of(const Welcome& welcome) {
  std::vector<PeerAddress> others;
  for (const RosterEntry& entry : welcome.roster) {
    if (entry.worker == welcome.worker) continue;
    others.push_back({entry.worker, entry.data, entry.key});
  }
  return others;
}

}  // namespace

void RemoteSession::send_report(const Report& report) {
  // The thread that decodes may sleep until lines come; this wakes it.
  if (worker_options_.fail_fast) inbox_.close();
  // After the first loss of a peer, others are consequences.
  if (report.status == Exit::kLost && std::exchange(has_told_loss_, true)) {
    return;
  }
  MessageWriter message(Verb::kReport);
  {
    const std::lock_guard lock(worker_mutex_);
    if (worker_ != nullptr) message.field("seq", worker_->at());
  }
  // gt-route only compares places, and the end of one, where its line stands,
  // tells it from others; so of a long path the beginning is left out.
  const std::string at = to_string(report.place);
  message.field("at", std::string_view(at).substr(
                          at.size() - std::min(at.size(), kMostPlace)));
  message.field("line", static_cast<uint64_t>(report.place.line));
  message.field("status", static_cast<uint64_t>(report.status));
  outbox_.push(message.finish(words(report.text)), report.text.size());
  wake_.signal();
}

int RemoteSession::send_results(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::string_view part = bytes.substr(0, kMaxBody);
    bytes.remove_prefix(part.size());
    wake_.signal();  // before it may sleep
    outbox_.push(MessageWriter(Verb::kResults).finish(part), part.size());
  }
  wake_.signal();
  return 0;
}

void RemoteSession::take_line(Worker& worker, const NumberedLines::Item& item) {
  constexpr std::string_view kFile = "#file ";
  if (item.text.starts_with(kFile)) {
    files_.push_back(unquote(item.text.substr(kFile.size())));
    return;
  }
  if (first_seq_ == 0) first_seq_ = item.seq;
  if (takes_number(item.text)) last_seq_ = item.seq;
  worker.line(item.text, &files_.back(), static_cast<uint64_t>(item.line),
              item.seq);
}

// The lines of a message; a block is kept under its id, and found by it.
Result<std::string_view> RemoteSession::body_of(const Message& message) {
  if (message.verb == Verb::kLines) return message.body;
  const std::string id = text(message, "id");
  if (message.verb == Verb::kBlock) {
    blocks_bytes_ += message.body.size();
    if (blocks_bytes_ > kMostBlocks) return Error{"block: too much to be kept"};
    if (!blocks_.try_emplace(id, message.body).second) {
      return Error{"block: there is one with id=" + excerpt(id)};
    }
  }
  const auto it = blocks_.find(id);
  if (it == blocks_.end()) {
    return Error{std::string(name_of(message.verb)) +
                 ": no block has id=" + excerpt(id)};
  }
  return std::string_view(it->second);
}

Status RemoteSession::forget(const Message& message) {
  const auto it = blocks_.find(text(message, "id"));
  if (it == blocks_.end()) return Error{"forget: there is no such block"};
  blocks_bytes_ -= it->second.size();
  blocks_.erase(it);
  return ok_status();
}

// Error: what came is not what gt-route says.
Status RemoteSession::take_body(Worker& worker, const Letter& letter) {
  if (letter.message.verb == Verb::kForget) return forget(letter.message);
  const auto header = lines_header(letter.message, last_seq_);
  if (!header.ok()) return header.error();
  const auto body = body_of(letter.message);
  if (!body.ok()) return body.error();
  LinesHeader at = header.value();
  for (uint64_t round = 0; round < header.value().times; ++round) {
    if (is_over_.load(std::memory_order_relaxed)) break;
    if (round > 0) note_done(worker);
    note_begin(worker);
    Status status = take_round(worker, body.value(), at.seq, at.line);
    if (!status.ok()) return status;
    at.seq += at.seq_by;
    at.line += static_cast<int64_t>(at.line_by);
  }
  taken_bytes_ += letter.bytes;
  note_done(worker);
  return ok_status();
}

Status RemoteSession::take_round(Worker& worker, std::string_view body,
                                 uint64_t seq, int64_t line) {
  NumberedLines lines(body, seq, line);
  NumberedLines::Item item;
  while (!is_over_.load(std::memory_order_relaxed)) {
    const auto more = lines.next(item);
    if (!more.ok()) return more.error();
    if (!more.value()) break;
    take_line(worker, item);
  }
  return ok_status();
}

void RemoteSession::note_begin(Worker& worker) {
  first_seq_ = 0;
  if (ran_->is_logged()) worker.after_lines([this] { ran_->begin_batch(); });
}

void RemoteSession::note_done(Worker& worker) {
  worker.after_lines([this, &worker, first = first_seq_, seq = last_seq_,
                      bytes = taken_bytes_] {
    const uint64_t done = worker.stopped() ? worker.ran_up_to() : seq;
    if (ran_->is_logged() && first != 0 && first <= done) {
      ran_->end_batch(first, done);
    }
    done_seq_.store(done);
    done_bytes_.store(bytes);
    if (bytes - woken_bytes_ < kMuchDone && now_ms() < woken_at_ + kSoon) {
      return;
    }
    woken_bytes_ = bytes;
    woken_at_ = now_ms();
    wake_.signal();
  });
}

// Until the end, or what is no message that gt-route sends.
Status RemoteSession::work_on(Worker& worker) {
  Inbound in;
  for (;;) {
    if (!inbox_.pop(in, milliseconds(0))) {
      worker.after_lines([this] { wake_.signal(); });
      worker.idle();
      if (!inbox_.pop(in)) return ok_status();
    }
    if (is_over_.load() || worker.stopped()) return ok_status();
    if (in.is_end) {
      return is_draining_ ? ok_status()
                          : check_after(in.letter.message, last_seq_);
    }
    if (Status s = take_body(worker, in.letter); !s.ok()) return s;
  }
}

Attachment RemoteSession::attachment(const Resources& resources) {
  const Welcome& welcome = member_->state().welcome();
  Attachment attachment{
      welcome.worker,        welcome.workers,
      *resources.link,       *resources.backend,
      resources.arena.get(), {},
      options_.patience,     ran_->is_wanted() ? &*ran_ : nullptr};
  attachment.names.resize(welcome.workers);
  for (const RosterEntry& entry : welcome.roster) {
    if (entry.worker < welcome.workers) {
      attachment.names[entry.worker] = entry.name;
    }
  }
  return attachment;
}

// Without an arena values are fetched.
Status RemoteSession::prepare(Resources& resources) {
  const Welcome& welcome = member_->state().welcome();
  if (welcome.workers > 1) {
    need_descriptors(size_t{2} * welcome.workers + 8);  // for its connections
    auto arena = Arena::make();
    if (arena.ok()) resources.arena = std::move(arena.value());
    auto backend = make_backend(options_.backend,
                                {1, options_.isa, resources.arena.get()});
    if (!backend.ok()) return backend.error();
    resources.backend = std::move(backend.value());
    resources.link = std::make_unique<comm::PeerLink>(
        *peers_, welcome.worker, welcome.session, addresses_of(welcome));
  }
  auto compute = make_backend(options_.backend, {options_.threads, options_.isa,
                                                 resources.arena.get()});
  if (!compute.ok()) return compute.error();
  resources.compute = std::move(compute.value());
  return ok_status();
}

void RemoteSession::show(Worker* worker) {
  const std::lock_guard lock(worker_mutex_);
  worker_ = worker;
}

void RemoteSession::leave(Exit status, std::string_view why) {
  status_ = status;
  farewell_ = why;
  has_left_.store(true);
  wake_.signal();
}

void RemoteSession::work(Files files) {
  Resources resources;
  if (Status s = prepare(resources); !s.ok()) {
    return leave(Exit::kUsage, s.error().message);
  }
  files_.push_back(member_->state().welcome().file);
  Writer out([this](std::string_view bytes) { return send_results(bytes); });
  Worker worker(
      *resources.compute, std::move(files), out,
      [this](const Report& report) { send_report(report); }, worker_options_);
  if (resources.link != nullptr) worker.attach(attachment(resources));
  show(&worker);
  Status status = worker.meet();
  if (status.ok()) status = work_on(worker);
  if (status.ok()) {
    worker.after_lines([this] { finishes_since_.store(now_ms()); });
  }
  const Exit done = status.ok() ? worker.finish() : Exit::kLost;
  show(nullptr);
  leave(done, !status.ok() ? status.error().message
              : worker.stopped()
                  ? "its --fail-fast ended it at " + worker.stopped_by()
              : is_draining_ ? "ended by a signal"
                             : "");
}

}  // namespace gt
