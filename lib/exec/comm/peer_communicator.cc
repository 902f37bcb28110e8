#include "exec/comm/peer_communicator.h"

#include <unistd.h>

namespace gt::exec::comm {
namespace {

using Kind = PeerMessage::Kind;

PeerMessage hello_of(const Arena* arena) {
  PeerMessage hello;
  hello.kind = Kind::kHello;
  if (arena == nullptr) return hello;
  hello.pid = static_cast<uint64_t>(::getpid());
  hello.fd = static_cast<uint64_t>(arena->fd());
  hello.size = arena->size();
  hello.token = arena->token();
  return hello;
}

}  // namespace

Status PeerCommunicator::connect(User& user) {
  exports_.set_user(user);
  imports_.set_user(user);
  moves_.set_user(user);
  PeerMessage hello = hello_of(arena_);
  link_.add_to(hello);
  peers_.each([&](unsigned worker) { peers_.send(worker, hello); });
  Status connected = ok_status();
  peers_.each([&](unsigned worker) {
    if (!connected.ok()) return;
    const Fault fault =
        peers_.await(worker, {0, 0, "to hear from " + peers_.name_of(worker)},
                     [this, worker] { return peers_.is_greeted(worker); });
    if (fault != nullptr) connected = Error{*fault};
  });
  if (connected.ok()) link_.connect();
  return connected;
}

void PeerCommunicator::serve() {
  if (peers_.is_aborted()) {
    peers_.each([this](unsigned worker) { exports_.drop_reader(worker); });
  }
  peers_.listen(!exports_.empty());
  exports_.check_readers();
}

Status PeerCommunicator::take(unsigned from, const PeerMessage& message) {
  switch (message.kind) {
    case Kind::kHello:
      if (Status s = link_.take(from, message); !s.ok()) return s;
      return imports_.take_hello(from, message);
    case Kind::kLink:
    case Kind::kLinked:
    case Kind::kUnlinked:
    case Kind::kSplit:
    case Kind::kLeaving:
      return link_.take(from, message);
    case Kind::kTake:
      return moves_.take(from, message);
    case Kind::kReady:
    case Kind::kFail:
      return imports_.take_ready(from, message);
    case Kind::kReleased:
      return exports_.take_released(from, message.tag);
    case Kind::kGet:
      return exports_.take_get(from, message);
    case Kind::kData:
    case Kind::kNoData:
      return imports_.take_data(from, message);
    default:
      return ok_status();
  }
}

void PeerCommunicator::take_loss(unsigned worker) {
  imports_.take_loss(worker);
  link_.take_loss(worker);
  exports_.drop_reader(worker);
}

}  // namespace gt::exec::comm
