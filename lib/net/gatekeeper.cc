#include "net/gatekeeper.h"

#include <array>
#include <utility>
#include <vector>

#include "base/shortage.h"

namespace gt::net {
namespace {

constexpr size_t kKeyBytes = 32;
// The parts of a request of RFC 27.
enum Part : size_t {
  kVersion,
  kRequest,
  kDomain,
  kAddress,
  kIdentity,
  kMechanism,
  kKey,
  kParts,
};

std::string text_of(const std::string& key) {
  std::array<char, kKeyBytes * 5 / 4 + 1> text{};
  zmq_z85_encode(text.data(), reinterpret_cast<const uint8_t*>(key.data()),
                 kKeyBytes);
  return text.data();
}

bool receive_all(void* socket, std::vector<std::string>& parts) {
  parts.clear();
  for (;;) {
    Frame frame;
    if (zmq_msg_recv(frame.raw(), socket, ZMQ_DONTWAIT) < 0) return false;
    parts.emplace_back(frame.bytes());
    if (zmq_msg_more(frame.raw()) == 0) return true;
  }
}

}  // namespace

Gatekeeper::Gatekeeper(Context& context)
    : door_(zmq_socket(context.raw(), ZMQ_REP)) {
  if (door_ == nullptr) fail_short("cannot make a socket");
  GT_CHECK(zmq_bind(door_, "inproc://zeromq.zap.01") == 0);
  thread_ = std::thread([this] { loop(); });
}

Gatekeeper::~Gatekeeper() {
  {
    const std::lock_guard lock(mutex_);
    is_ending_ = true;
  }
  wake_.signal();
  thread_.join();
  zmq_close(door_);
}

void Gatekeeper::open(Admits admits) {
  {
    const std::lock_guard lock(mutex_);
    GT_CHECK(!admits_);
    admits_ = std::move(admits);
  }
  wake_.signal();
}

bool Gatekeeper::next_refused(std::string& who) {
  const std::lock_guard lock(mutex_);
  if (refused_.empty()) return false;
  who = std::move(refused_.front());
  refused_.pop_front();
  return true;
}

void Gatekeeper::refuse(std::string who) {
  const std::lock_guard lock(mutex_);
  if (refused_.size() < kMostTold) refused_.push_back(std::move(who));
}

void Gatekeeper::loop() {
  Poller poller;
  for (;;) {
    poller.clear();
    poller.add_fd(wake_.fd());
    {
      const std::lock_guard lock(mutex_);
      if (is_ending_) return;
      if (admits_) poller.add_socket(door_);
    }
    poller.wait(-1);
    wake_.clear();
    while (answer()) {
    }
  }
}

// Answers one request. False if there is none, or the gatekeeper is not open.
bool Gatekeeper::answer() {
  {
    const std::lock_guard lock(mutex_);
    if (!admits_ || is_ending_) return false;
  }
  std::vector<std::string> parts;
  if (!receive_all(door_, parts)) return false;
  const bool is_asked = parts.size() == kParts && parts[kVersion] == "1.0" &&
                        parts[kMechanism] == "CURVE" &&
                        parts[kKey].size() == kKeyBytes;
  const std::string key = is_asked ? text_of(parts[kKey]) : "";
  const bool is_good = is_asked && admits_(key);
  if (is_asked && !is_good) refuse(key + " at " + parts[kAddress]);
  const std::array<std::string, 6> reply = {
      "1.0",
      parts.size() > kRequest ? parts[kRequest] : "",
      is_good ? "200" : "400",
      is_good ? "" : "not admitted",
      is_good ? key : "",
      ""};
  for (size_t i = 0; i < reply.size(); ++i) {
    const int more = i + 1 < reply.size() ? ZMQ_SNDMORE : 0;
    (void)zmq_send(door_, reply[i].data(), reply[i].size(),
                   ZMQ_DONTWAIT | more);
  }
  return true;
}

}  // namespace gt::net
