// The bytes of one ZeroMQ frame. Copies share them, so that one text goes to
// many peers. A frame is used from one thread; its bytes may be freed on
// another.
#pragma once

#include <zmq.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace gt::net {

class Frame {
 public:
  Frame() { zmq_msg_init(&message_); }
  explicit Frame(std::string text);  // takes the text over, no copy
  // Refers to bytes that must stay where they are until `keep` is let go, which
  // happens once they were sent to all, on a thread of ZeroMQ's.
  Frame(const void* data, size_t size, std::shared_ptr<const void> keep);
  Frame(const Frame& other) : Frame() { *this = other; }
  Frame(Frame&& other) noexcept : Frame() { *this = std::move(other); }
  Frame& operator=(const Frame& other);
  Frame& operator=(Frame&& other) noexcept;
  ~Frame() { zmq_msg_close(&message_); }

  // The bytes of a short frame are in the frame itself, and move with it.
  std::string_view bytes() const {
    return {static_cast<const char*>(zmq_msg_data(&message_)), size()};
  }
  size_t size() const { return zmq_msg_size(&message_); }
  zmq_msg_t* raw() { return &message_; }

 private:
  mutable zmq_msg_t message_;
};

}  // namespace gt::net
