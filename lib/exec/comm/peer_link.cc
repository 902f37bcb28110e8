#include "exec/comm/peer_link.h"

#include <memory>

namespace gt::exec::comm {

PeerLink::PeerLink(net::Peers& peers, unsigned self, std::string session,
                   std::vector<net::PeerAddress> others)
    : peers_(peers),
      self_(self),
      session_(std::move(session)),
      others_(std::move(others)) {}

void PeerLink::connect() {
  if (is_connecting_) return;
  is_connecting_ = true;
  connected_ = peers_.connect(self_, session_, others_);
}

Status PeerLink::send(unsigned worker, std::string message) {
  connect();
  if (!connected_.ok()) return connected_;
  if (!peers_.ready() || !unsent_.empty()) {
    unsent_.push_back({worker, std::move(message)});
    return ok_status();
  }
  return send_now(worker, std::move(message));
}

// The header ends with its newline; the body after it is sent without a copy.
Status PeerLink::send_now(unsigned worker, std::string message) {
  const auto text = std::make_shared<const std::string>(std::move(message));
  const size_t header = text->find('\n') + 1;
  const std::string_view whole(*text);
  if (peers_.send(worker, whole.substr(0, header), text->data() + header,
                  text->size() - header, text)) {
    return ok_status();
  }
  return Error{"it is gone"};
}

// Errors are ignored, since the loss of a worker is received as an event.
void PeerLink::send_unsent() {
  if (unsent_.empty() || !peers_.ready()) return;
  for (Unsent& unsent : std::exchange(unsent_, {})) {
    (void)send_now(unsent.worker, std::move(unsent.message));
  }
}

bool PeerLink::next(Incoming& message) {
  net::PeerEvent got;
  const bool has_more = peers_.receive(got);
  send_unsent();
  if (!has_more) return false;
  message.from = got.worker;
  message.is_lost = got.kind == net::PeerEvent::Kind::kLost;
  message.bytes = std::move(got.header);
  message.bytes += got.body.bytes();
  return true;
}

bool PeerLink::receive(Incoming& message, std::chrono::milliseconds most) {
  connect();
  if (connected_.ok() && next(message)) return true;
  poller_.clear();
  if (connected_.ok()) {
    poller_.add_socket(peers_.pollable());
    poller_.add_socket(peers_.monitor());
  }
  const size_t woken = poller_.add_fd(wake_.fd());
  poller_.wait(most.count());
  if (poller_.ready(woken)) wake_.clear();
  return connected_.ok() && next(message);
}

}  // namespace gt::exec::comm
