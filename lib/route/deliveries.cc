#include "route/deliveries.h"

#include <algorithm>
#include <utility>

#include "base/message.h"
#include "route/hot_note.h"

namespace gt::route {
namespace {

// The most bytes of text that a worker may have to finish before it is sent
// another message. For a block sent as a number, all of its text counts:
// credit, which counts bytes on the wire, would let such messages queue up
// without end.
constexpr size_t kMostOnWay = size_t{4} << 20;

// The most bytes of text in a batch that is kept after it was finished, in
// order to tell the last line.
constexpr size_t kMostKept = size_t{1} << 20;

// Returns the frames of the part's message. `after` is the seq that the worker
// was sent last.
std::vector<net::Frame> frames_of(const BodyPart& part, net::Verb verb,
                                  uint64_t after) {
  net::MessageWriter message(verb);
  if (verb != net::Verb::kLines) message.field("id", part.block->id);
  message.field("seq", part.seq)
      .field("line", static_cast<uint64_t>(part.line))
      .field("after", after);
  if (part.times > 1) {
    message.field("times", part.times)
        .field("seq_by", part.seq_by)
        .field("line_by", static_cast<uint64_t>(part.line_by));
  }
  std::vector<net::Frame> out;
  const std::string_view body =
      verb == net::Verb::kHot ? std::string_view() : part.text();
  for (std::string& frame : message.finish_all(body)) {
    out.emplace_back(std::move(frame));
  }
  return out;
}

// Returns the first line of the part with a seq above `done`, if there is one.
std::optional<Deliveries::LineAt> find_after(const BodyPart& part,
                                             uint64_t done,
                                             const Client& client) {
  if (part.last <= done) return std::nullopt;
  uint64_t round = 0;
  if (part.times > 1 && done > part.seq) {
    round = std::min(part.times - 1, (done - part.seq) / part.seq_by);
  }
  for (; round < part.times; ++round) {
    net::NumberedLines lines(
        part.text(), part.seq + round * part.seq_by,
        part.line + static_cast<int64_t>(round) * part.line_by);
    net::NumberedLines::Item item;
    for (;;) {
      const auto more = lines.next(item);
      if (!more.ok() || !more.value()) break;
      if (item.seq <= done || item.text.starts_with('#')) continue;
      const Place place{client.file_at(item.seq),
                        static_cast<size_t>(item.line)};
      // The program does not have the note that gt-route added.
      return Deliveries::LineAt{
          to_string(place),
          without_hot(item.text).substr(0, Deliveries::kMostText)};
    }
  }
  return std::nullopt;
}

}  // namespace

void Deliveries::add(Outbox::Batch batch) {
  std::erase_if(batch.workers,
                [this](uint32_t w) { return workers_[w].is_dropped; });
  size_t bytes = 0;
  for (const BodyPart& part : batch.parts) bytes += part.text().size();
  const bool is_short = bytes <= kMostKept;
  const auto sent = std::make_shared<const Outbox::Batch>(std::move(batch));
  for (size_t p = 0; p < sent->parts.size(); ++p) {
    add_part(sent->parts[p], sent->workers);
    for (const uint32_t w : sent->workers) {
      workers_[w].on_way.push_back({sent, p, is_short});
      ++workers_[w].unsent_parts;
    }
  }
}

// Adds the part's message for these workers. Workers share the frames of a
// message if it is the same for them: they were sent the same seq last, and all
// or none keep its block.
void Deliveries::add_part(const BodyPart& part,
                          const std::vector<uint32_t>& workers) {
  struct Made {
    uint64_t after;
    net::Verb verb;
    std::vector<net::Frame> frames;
  };
  std::vector<Made> all;
  std::vector<bool>* keeps = nullptr;
  if (part.block != nullptr && part.block->is_kept) {
    keeps = &keepers_[part.block->id];
    keeps->resize(workers_.size());
  }
  for (const uint32_t w : workers) {
    Worker& worker = workers_[w];
    net::Verb verb = net::Verb::kLines;
    if (keeps != nullptr)
      verb = (*keeps)[w] ? net::Verb::kHot : net::Verb::kBlock;
    const uint64_t after = std::exchange(
        worker.last_seq, part.seq == 0 ? worker.last_seq : part.last);
    auto made = std::find_if(all.begin(), all.end(), [&](const Made& m) {
      return m.after == after && m.verb == verb;
    });
    if (made == all.end()) {
      all.push_back({after, verb, frames_of(part, verb, after)});
      made = all.end() - 1;
    }
    if (keeps != nullptr) (*keeps)[w] = true;
    size_t cost = part.bytes();
    for (const net::Frame& frame : made->frames) {
      worker.unsent_bytes += cost;
      worker.unsent.push_back({frame, verb, part.seq, part.last, cost});
      cost = 0;
    }
  }
}

void Deliveries::add_forget(uint64_t block) {
  const auto keepers = keepers_.extract(block);
  if (keepers.empty()) return;
  net::MessageWriter message(net::Verb::kForget);
  const net::Frame frame(message.field("id", block).finish());
  for (uint32_t w = 0; w < workers_.size(); ++w) {
    if (!keepers.mapped()[w] || workers_[w].is_dropped) continue;
    workers_[w].unsent.push_back({frame, net::Verb::kForget, 0, 0, 0});
  }
}

void Deliveries::send(uint32_t w, net::Host& host, RunRecorder& log) {
  Worker& worker = workers_[w];
  while (!worker.unsent.empty()) {
    const Unsent& next = worker.unsent.front();
    if (!host.can_send(w, next.frame.size())) return;
    // A later frame of a message (cost 0) is not held back here: the worker
    // finishes nothing before it has the whole message, so both would wait.
    if (next.cost > 0 && worker.on_way_bytes >= kMostOnWay) return;
    if (next.verb != net::Verb::kForget) {
      log.send(w, next.first, next.last, next.frame.size(), next.verb);
    }
    worker.unsent_bytes -= next.cost;
    worker.on_way_bytes += next.cost;
    if (next.cost > 0) --worker.unsent_parts;
    host.send(w, next.frame);
    worker.unsent.pop_front();
  }
}

void Deliveries::send_end(uint32_t w, net::Host& host) {
  Worker& worker = workers_[w];
  if (!worker.unsent.empty() || worker.told_end) return;
  worker.told_end = true;
  net::MessageWriter end(net::Verb::kEnd);
  host.send(w, net::Frame(end.field("after", worker.last_seq).finish()));
}

void Deliveries::drop_unsent() {
  for (Worker& worker : workers_) worker.unsent.clear();
}

void Deliveries::drop(uint32_t worker) {
  workers_[worker] = Worker{};
  workers_[worker].is_dropped = true;
}

Status Deliveries::take_done(uint32_t w, uint64_t seq) {
  Worker& worker = workers_[w];
  if (seq > worker.last_seq) {
    return Error{"said that it has done up to seq " + std::to_string(seq) +
                 ", but was sent " + std::to_string(worker.last_seq) +
                 " at most"};
  }
  while (worker.on_way.size() > worker.unsent_parts &&
         worker.on_way.front().body().last <= seq) {
    const size_t bytes = worker.on_way.front().body().bytes();
    worker.on_way_bytes -= std::min(worker.on_way_bytes, bytes);
    worker.finished.reset();
    if (worker.on_way.front().is_short) {
      worker.finished = std::move(worker.on_way.front());
    }
    worker.on_way.pop_front();
  }
  return ok_status();
}

std::optional<Deliveries::LineAt> Deliveries::line_at(
    uint32_t worker, uint64_t done, const Client& client) const {
  const std::optional<OnWay>& last = workers_[worker].finished;
  if (last && last->body().last > done) {
    return find_after(last->body(), done, client);
  }
  for (const OnWay& on_way : workers_[worker].on_way) {
    auto found = find_after(on_way.body(), done, client);
    if (found) return found;
  }
  if (!last || last->body().last == 0) return std::nullopt;
  auto found = find_after(last->body(), last->body().last - 1, client);
  if (found) found->is_done = true;
  return found;
}

std::string Deliveries::where_was(uint32_t worker, uint64_t done,
                                  const Client& client) const {
  const auto at = line_at(worker, done, client);
  if (!at || at->is_done) return "; it had done all it was sent";
  return "; it was at " + at->place + ": " + excerpt(at->text);
}

}  // namespace gt::route
