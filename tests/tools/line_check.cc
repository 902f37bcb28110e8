#include "line_check.h"

#include <algorithm>
#include <utility>

#include "base/hash.h"
#include "base/message.h"

namespace gt::net {
namespace {

// The numbers from which a body is parsed, far from both limits of their types.
constexpr uint64_t kSomeSeq = uint64_t{1} << 62;
constexpr int64_t kSomeLine = int64_t{1} << 61;

bool asks(std::string_view line) {
  return line.starts_with("print ") || is_ranks_line(line) ||
         is_fence_line(line);
}

// Adds the next line of a body to what is known about the body.
Status add_line(ReadBody& body, const NumberedLines::Item& item) {
  const auto wrong = [&item](const std::string& what) {
    return Error{"'" + excerpt(item.text) + "' " + what};
  };
  if (!item.is_whole) return wrong("has no end");
  if (asks(item.text)) body.asking.push_back(item.text);
  if (!takes_number(item.text)) {
    if (is_file_line(item.text) || asks(item.text)) return ok_status();
    return wrong("is no line for a worker");
  }
  ++body.numbered;
  body.seq_span = item.seq + 1 - kSomeSeq;
  body.least = std::min(body.least, item.line - kSomeLine);
  return ok_status();
}

}  // namespace

Result<std::shared_ptr<const ReadBody>> read_body(std::string_view text) {
  auto body = std::make_shared<ReadBody>();
  body->text = text;
  NumberedLines lines(body->text, kSomeSeq, kSomeLine);
  NumberedLines::Item item;
  for (;;) {
    const auto more = lines.next(item);
    if (!more.ok()) return more.error();
    if (!more.value()) return std::shared_ptr<const ReadBody>(std::move(body));
    Status status = add_line(*body, item);
    if (!status.ok()) return status.error();
  }
}

Result<std::shared_ptr<const ReadBody>> BodyPool::read(std::string_view text) {
  const uint64_t hash = hash_bytes(text);
  const auto known = bodies_.find(hash);
  if (known != bodies_.end() && known->second->text == text) {
    return known->second;
  }
  auto body = read_body(text);
  if (!body.ok()) return body;
  if (bytes_ > kMostBytes) {
    bodies_.clear();
    bytes_ = 0;
  }
  bytes_ += text.size();
  bodies_[hash] = body.value();
  return body;
}

Status LineCheck::take(const Message& message) {
  if (message.verb == Verb::kEnd) return check_after(message, last_seq_);
  if (message.verb == Verb::kForget) return forget(message.text("id"));
  const auto header = lines_header(message, last_seq_);
  if (!header.ok()) return header.error();
  const auto body = body_of(message);
  if (!body.ok()) return body.error();
  if (Status s = follow(header.value(), *body.value()); !s.ok()) return s;
  return handle(header.value(), *body.value());
}

Status LineCheck::forget(const std::string& id) {
  if (blocks_.erase(id) > 0) return ok_status();
  return Error{"forget: no block has id=" + excerpt(id)};
}

Result<LineCheck::Body> LineCheck::body_of(const Message& message) {
  const std::string id = message.text("id");
  if (message.verb == Verb::kHot) {
    const auto known = blocks_.find(id);
    if (known == blocks_.end()) {
      return Error{"hot: no block has id=" + excerpt(id)};
    }
    if (message.body.empty()) return known->second;
    return Error{"hot: has a body"};
  }
  auto body = pool_->read(message.body);
  if (body.ok() && message.verb == Verb::kBlock) {
    if (!blocks_.try_emplace(id, body.value()).second) {
      return Error{"block: there is one with id=" + excerpt(id)};
    }
  }
  return body;
}

// Error: the numbers of the rounds do not grow, or do not continue those that
// came last.
Status LineCheck::follow(const LinesHeader& header, const ReadBody& body) {
  const auto wrong = [&header](const char* what) {
    return Error{"seq=" + std::to_string(header.seq) +
                 " line=" + std::to_string(header.line) + ": " + what};
  };
  if (body.numbered == 0) {
    return header.seq == 0 ? ok_status() : wrong("no line has these numbers");
  }
  if (header.seq <= last_seq_) return wrong("these numbers came before");
  if (header.line + body.least < 1) return wrong("there is no such place");
  if (header.times > 1 && header.seq_by < body.seq_span) {
    return wrong("the rounds of a block overlap");
  }
  last_seq_ =
      header.seq + (header.times - 1) * header.seq_by + body.seq_span - 1;
  lines_ += header.times * body.numbered;
  return ok_status();
}

Status LineCheck::handle(const LinesHeader& header,
                         const ReadBody& body) const {
  if (body.asking.empty()) return ok_status();
  for (uint64_t round = 0; round < header.times; ++round) {
    for (const std::string_view line : body.asking) {
      if (Status s = handler_(line); !s.ok()) return s;
    }
  }
  return ok_status();
}

}  // namespace gt::net
