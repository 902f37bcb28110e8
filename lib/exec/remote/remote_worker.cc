#include "exec/remote/remote_worker.h"

#include <utility>

#include "exec/backend/registry.h"
#include "exec/comm/peer_link.h"
#include "exec/remote/attaching.h"
#include "net/control_lines.h"

namespace gt::exec {
namespace {

using std::chrono::milliseconds;

// While there is more to do, progress is sent only every kSoon milliseconds, or
// after kMuchDone bytes of lines: each time wakes a thread here and gt-route,
// which takes the processor away from computing.
constexpr int64_t kSoon = 20;  // milliseconds
constexpr uint64_t kMuchDone = uint64_t{256} << 10;
constexpr size_t kMostPlace = 512;  // bytes of a place in a report
constexpr size_t kMostSpace = 64;   // bytes of a name space in a report

std::vector<net::PeerAddress> addresses_of(const net::Welcome& welcome) {
  std::vector<net::PeerAddress> others;
  for (const net::RosterEntry& entry : welcome.roster) {
    if (entry.worker == welcome.worker) continue;
    others.push_back({entry.worker, entry.data, entry.key});
  }
  return others;
}

}  // namespace

// ---- what comes of the lines ------------------------------------------------

void RemoteWorker::send_report(const Report& report) {
  // The thread that decodes may sleep until lines come; this wakes it.
  if (worker_options_.fail_fast) channel_.inbox.close();
  // After the first loss of a peer, others are consequences.
  if (report.status == Exit::kLost && std::exchange(has_told_loss_, true)) {
    return;
  }
  net::MessageWriter message(net::Verb::kReport);
  channel_.with_worker(
      [&message](Worker& worker) { message.field("seq", worker.at()); });
  // gt-route only compares places, and they differ at the end, where the line
  // number is; so a long path is cut at the beginning.
  const std::string at = to_string(report.place);
  message.field("at", std::string_view(at).substr(
                          at.size() - std::min(at.size(), kMostPlace)));
  message.field("line", static_cast<uint64_t>(report.place.line));
  message.field("status", static_cast<uint64_t>(report.status));
  if (!report.space.empty() && report.space.size() <= kMostSpace) {
    message.field("space", report.space);
  }
  channel_.reports.fetch_add(1);
  channel_.outbox.push({message.finish(net::words(report.text)), true},
                       report.text.size());
  channel_.wake.signal();
}

int RemoteWorker::send_results(std::string_view bytes) {
  each_results_message(bytes, [this](std::string message, size_t size) {
    channel_.wake.signal();  // before push(), which may sleep
    channel_.outbox.push({std::move(message), false}, size);
  });
  channel_.wake.signal();
  return 0;
}

void RemoteWorker::note_done(uint64_t first, uint64_t last, uint64_t bytes) {
  const uint64_t done = worker_->stopped() ? worker_->ran_up_to() : last;
  if (ran_.is_logged() && first != 0 && first <= done) {
    ran_.end_batch(first, done);
  }
  done_ = done;
  publish_done();
  channel_.done_bytes.store(bytes);
  if (bytes - woken_bytes_ < kMuchDone && net::now_ms() < woken_at_ + kSoon)
    return;
  woken_bytes_ = bytes;
  woken_at_ = net::now_ms();
  channel_.wake.signal();
}

// Lines count as done only when their saves are written, since whoever learns
// that they are done may read the files.
void RemoteWorker::publish_done() {
  const uint64_t done = worker_->settled_up_to(done_);
  ran_.settle(done);
  channel_.done_seq.store(done);
}

// ---- lines ------------------------------------------------------------------

bool RemoteWorker::begin_round() {
  if (channel_.is_over.load(std::memory_order_relaxed)) return false;
  first_seq_ = 0;
  if (ran_.is_logged()) worker_->after_lines([this] { ran_.begin_batch(); });
  return true;
}

bool RemoteWorker::take(const ReceivedLines::Item& item) {
  if (channel_.is_over.load(std::memory_order_relaxed)) return false;
  if (net::is_file_line(item.text)) {
    files_.push_back(net::parse_file_line(item.text));
    return true;
  }
  if (take_about_saves(item.text)) return true;
  if (first_seq_ == 0) first_seq_ = item.seq;
  worker_->line(item.text, &files_.back(), static_cast<uint64_t>(item.line),
                item.seq);
  return true;
}

// Takes a line that controls saves.
bool RemoteWorker::take_about_saves(std::string_view text) {
  if (text == net::kSavesEnd) {
    worker_->end_saves();
  } else if (text == net::kSavesCut) {
    worker_->abandon_saves(std::string(kCutSaves));
  } else if (net::is_failed_save_line(text)) {
    auto save = net::parse_failed_save_line(text);
    if (save.ok()) {
      worker_->fail_save(std::move(save.value().path),
                         std::move(save.value().why));
    }
  } else {
    return false;
  }
  return true;
}

void RemoteWorker::end_round(bool is_last) {
  if (is_last) taken_bytes_ += std::exchange(message_bytes_, 0);
  worker_->note_use();
  worker_->after_lines(
      [this, first = first_seq_, last = lines_.last_seq(),
       bytes = taken_bytes_] { note_done(first, last, bytes); });
}

// Handles messages until the end. Error: no correct gt-route would send the
// message.
Status RemoteWorker::take_messages() {
  Inbound in;
  for (;;) {
    if (!channel_.inbox.pop(in, milliseconds(0))) {
      worker_->settle();
      worker_->after_lines([this] {
        publish_done();
        channel_.wake.signal();
      });
      worker_->idle();
      if (!channel_.inbox.pop(in)) return ok_status();
    }
    if (channel_.is_over.load() || worker_->stopped()) return ok_status();
    const net::Message& message = in.owned.message;
    if (in.is_end) {
      return channel_.is_draining ? ok_status() : lines_.check_end(message);
    }
    message_bytes_ = in.owned.bytes;
    if (Status s = lines_.take(message, *this); !s.ok()) return s;
  }
}

// ---- the worker -------------------------------------------------------------

comm::GroupOptions RemoteWorker::group() const {
  comm::GroupOptions group;
  group.self = welcome_.worker;
  group.workers = welcome_.workers;
  group.link = link_.get();
  group.patience = options_.patience;
  group.has_fast_sums = options_.has_fast_sums;
  group.say = [this](const std::string& line) {
    say_("gt-work: " + line + "\n");
  };
  group.names.resize(welcome_.workers);
  for (const net::RosterEntry& entry : welcome_.roster) {
    if (entry.worker < welcome_.workers) group.names[entry.worker] = entry.name;
  }
  return group;
}

Result<std::unique_ptr<Backend>> RemoteWorker::open_backend(
    const RemoteOptions& options, Arena* arena, int threads) {
  return make_backend(options.backend, {threads, options.isa, arena,
                                        options.device, options.pace});
}

// Makes the backends and the link. If no arena can be made, other workers fetch
// values instead.
Status RemoteWorker::prepare() {
  if (welcome_.workers > 1) {
    net::need_descriptors(size_t{2} * welcome_.workers +
                          8);  // for the connections to the workers
    auto arena = Arena::make();
    if (arena.ok()) arena_ = std::move(arena.value());
    auto backend = open_backend(options_, arena_.get());
    if (!backend.ok()) return backend.error();
    exchanging_ = std::move(backend.value());
    // Others cannot read this device's values in place, so they are sent.
    if (!exchanging_->device().is_host()) arena_.reset();
    link_ = std::make_unique<comm::PeerLink>(
        peers_, welcome_.worker, welcome_.session, addresses_of(welcome_));
    communicator_ = std::make_unique<comm::PeerCommunicator>(
        group(), arena_.get(), exchanging_->device());
  }
  auto compute = open_backend(options_, arena_.get(), options_.threads);
  if (!compute.ok()) return compute.error();
  compute_ = std::move(compute.value());
  return ok_status();
}

void RemoteWorker::run(Files files, std::unique_ptr<Backend> opened) {
  if (Status s = prepare(); !s.ok()) {
    return channel_.leave(Exit::kUsage, s.error().message);
  }
  opened.reset();
  files_.push_back(welcome_.file);
  work(std::move(files));
}

void RemoteWorker::work(Files files) {
  Writer out([this](std::string_view bytes) { return send_results(bytes); });
  Worker worker(
      *compute_, std::move(files), out,
      [this](const Report& report) { send_report(report); }, worker_options_);
  worker_ = &worker;
  worker.when_saved([this] {
    publish_done();
    channel_.wake.signal();
  });
  if (communicator_ != nullptr) {
    worker.attach({welcome_.worker, welcome_.workers, *communicator_,
                   *exchanging_, ran_.is_wanted() ? &ran_ : nullptr});
  }
  channel_.set_worker(&worker);
  Status status = worker.meet();
  if (status.ok()) status = take_messages();
  if (channel_.is_over.load() || !status.ok()) {
    worker.abandon_saves(std::string(kCutSaves));
  }
  if (status.ok()) {
    worker.flush();
    worker.after_lines([this] {
      publish_done();
      channel_.finishes_since.store(net::now_ms());
    });
  }
  const Exit done = status.ok() ? worker.finish() : Exit::kLost;
  worker.note_use();
  channel_.with_worker([this](Worker& ended) {
    net::append_used(channel_.used, ended.meter().used());
  });
  channel_.set_worker(nullptr);
  channel_.leave(done, !status.ok()       ? status.error().message
                       : worker.is_lost() ? "its device failed"
                       : worker.stopped() ? "its --fail-fast ended it at " +
                                                worker.stopped_by()
                       : channel_.is_draining ? "ended by a signal"
                                              : "");
}

}  // namespace gt::exec
