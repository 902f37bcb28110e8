#include "net/frame.h"

#include <utility>

#include "base/result.h"
#include "base/shortage.h"

namespace gt::net {
namespace {

// Up to this size, a copy costs less than keeping the original alive.
constexpr size_t kCopied = 256;

template <typename T>
void drop(void* /*data*/, void* kept) {
  delete static_cast<T*>(kept);
}

template <typename T>
void refer(zmq_msg_t& message, const void* data, size_t size, T* kept) {
  // ZeroMQ takes a non-const pointer, but does not write.
  void* bytes = const_cast<void*>(data);  // NOLINT
  if (zmq_msg_init_data(&message, bytes, size, drop<T>, kept) != 0) {
    fail_short("cannot make a message");
  }
}

void copy(zmq_msg_t& message, std::string_view bytes) {
  if (zmq_msg_init_size(&message, bytes.size()) != 0) {
    fail_short("cannot make a message");
  }
  bytes.copy(static_cast<char*>(zmq_msg_data(&message)), bytes.size());
}

}  // namespace

Frame::Frame(std::string text) {
  if (text.size() <= kCopied) {
    copy(message_, text);
    return;
  }
  auto* kept = new std::string(std::move(text));
  refer(message_, kept->data(), kept->size(), kept);
}

Frame::Frame(const void* data, size_t size, std::shared_ptr<const void> keep) {
  if (size <= kCopied) {
    copy(message_, {static_cast<const char*>(data), size});
    return;
  }
  refer(message_, data, size, new std::shared_ptr<const void>(std::move(keep)));
}

Frame& Frame::operator=(const Frame& other) {
  if (this != &other) {
    GT_CHECK(zmq_msg_copy(&message_, &other.message_) == 0);
  }
  return *this;
}

Frame& Frame::operator=(Frame&& other) noexcept {
  if (this != &other) zmq_msg_move(&message_, &other.message_);
  return *this;
}

}  // namespace gt::net
