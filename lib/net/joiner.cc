#include "net/joiner.h"

#include <utility>

namespace gt::net {
namespace {

bool goes_on(const Message& message) {
  const std::string_view* more = message.find("more");
  return more != nullptr && *more == "1";
}

bool is_about_connection(const Message& message) {
  return message.verb == Verb::kBeat || message.verb == Verb::kGone ||
         message.verb == Verb::kAbort || message.verb == Verb::kWatch;
}

struct Held {
  Frame frame;
  Message message;
};

}  // namespace

Result<OwnedMessage> read_owned_message(Frame frame) {
  auto held = std::make_shared<Held>();
  held->frame = std::move(frame);
  auto message = parse_message(held->frame.bytes());
  if (!message.ok()) return message.error();
  if (goes_on(message.value())) {
    return Error{std::string(name_of(message.value().verb)) +
                 ": comes in parts, which only gt-route sends"};
  }
  const size_t bytes = held->frame.size();
  return OwnedMessage{std::move(message.value()), bytes, std::move(held)};
}

Status Joiner::add(const Message& part) {
  if (part.verb != open_->message.verb) {
    return Error{std::string(name_of(part.verb)) + " between the parts of " +
                 std::string(name_of(open_->message.verb))};
  }
  if (open_->body.size() + part.body.size() > kMaxJoined) {
    return Error{std::string(name_of(part.verb)) + ": more than " +
                 std::to_string(kMaxJoined) + " bytes in parts"};
  }
  open_->body.append(part.body);
  return ok_status();
}

Result<std::optional<OwnedMessage>> Joiner::take(Frame frame) {
  auto box = std::make_shared<Box>();
  box->first = std::move(frame);
  auto part = parse_message(box->first.bytes());
  if (!part.ok()) return part.error();
  const size_t bytes = box->first.size();
  const bool is_last = !goes_on(part.value());
  box->message = std::move(part.value());
  const bool is_whole = open_ == nullptr || is_about_connection(box->message);
  if (is_whole && is_last) {
    return std::optional(OwnedMessage{box->message, bytes, std::move(box)});
  }
  if (open_ == nullptr) {
    // Reserves the most at once, so that the body never moves; the system
    // provides pages only as they are written.
    box->body.reserve(kMaxJoined);
    box->body = box->message.body;
    open_ = std::move(box);
    return std::optional<OwnedMessage>();
  }
  const Status status = add(box->message);
  if (!status.ok()) return status.error();
  if (!is_last) return std::optional<OwnedMessage>();
  open_->message.body = open_->body;
  OwnedMessage owned{open_->message, bytes, nullptr};
  owned.keep = std::move(open_);
  return std::optional(std::move(owned));
}

}  // namespace gt::net
