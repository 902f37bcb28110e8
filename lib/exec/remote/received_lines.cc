#include "exec/remote/received_lines.h"

#include "base/message.h"

namespace gt::exec {

// Returns the lines of a message. Keeps a block under its id, and finds it
// again by that.
Result<std::string_view> ReceivedLines::body_of(const net::Message& message) {
  if (message.verb == net::Verb::kLines) return message.body;
  const std::string id = message.text("id");
  if (message.verb == net::Verb::kBlock) {
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

Status ReceivedLines::forget(const net::Message& message) {
  const auto it = blocks_.find(message.text("id"));
  if (it == blocks_.end()) return Error{"forget: there is no such block"};
  blocks_bytes_ -= it->second.size();
  blocks_.erase(it);
  return ok_status();
}

Status ReceivedLines::take(const net::Message& message, Sink& sink) {
  if (message.verb == net::Verb::kForget) return forget(message);
  const auto header = lines_header(message, last_seq_);
  if (!header.ok()) return header.error();
  const auto body = body_of(message);
  if (!body.ok()) return body.error();
  net::LinesHeader at = header.value();
  bool goes_on = true;
  for (uint64_t round = 0; goes_on && round < header.value().times; ++round) {
    if (round > 0) sink.end_round(false);
    goes_on = sink.begin_round();
    if (!goes_on) break;
    Status status = take_round(body.value(), at.seq, at.line, sink);
    if (!status.ok()) return status;
    at.seq += at.seq_by;
    at.line += static_cast<int64_t>(at.line_by);
  }
  sink.end_round(true);
  return ok_status();
}

Status ReceivedLines::take_round(std::string_view body, uint64_t seq,
                                 int64_t line, Sink& sink) {
  net::NumberedLines lines(body, seq, line);
  Item item;
  for (;;) {
    const auto more = lines.next(item);
    if (!more.ok()) return more.error();
    if (!more.value() || !sink.take(item)) return ok_status();
    if (net::takes_number(item.text)) last_seq_ = item.seq;
  }
}

}  // namespace gt::exec
