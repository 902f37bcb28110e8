#include "net/joiner.h"

#include <utility>

namespace gt {
namespace {

bool goes_on(const Message& message) {
  const std::string_view* more = message.find("more");
  return more != nullptr && *more == "1";
}

}  // namespace

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

Result<std::optional<Letter>> Joiner::take(Frame frame) {
  auto box = std::make_shared<Box>();
  box->first = std::move(frame);
  auto part = parse_message(box->first.bytes());
  if (!part.ok()) return part.error();
  const size_t bytes = box->first.size();
  const bool is_last = !goes_on(part.value());
  box->message = std::move(part.value());
  if (open_ == nullptr) {
    if (is_last) {
      return std::optional(Letter{box->message, bytes, std::move(box)});
    }
    box->body = box->message.body;
    open_ = std::move(box);
    return std::optional<Letter>();
  }
  const Status status = add(box->message);
  if (!status.ok()) return status.error();
  if (!is_last) return std::optional<Letter>();
  open_->message.body = open_->body;
  Letter letter{open_->message, bytes, nullptr};
  letter.keep = std::move(open_);
  return std::optional(std::move(letter));
}

}  // namespace gt
