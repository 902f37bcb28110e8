// A Frame holds the bytes of one ZeroMQ frame. Copies share the bytes, so that
// one text can go to many peers. A frame is used from one thread; its bytes may
// be freed on another.
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
  // Refers to bytes that must stay valid until `keep` is released, which
  // happens on a thread of ZeroMQ, once they were sent to all receivers.
  Frame(const void* data, size_t size, std::shared_ptr<const void> keep);
  Frame(const Frame& other) : Frame() { *this = other; }
  Frame(Frame&& other) noexcept : Frame() { *this = std::move(other); }
  Frame& operator=(const Frame& other);
  Frame& operator=(Frame&& other) noexcept;
  ~Frame() { zmq_msg_close(&message_); }

  // The bytes of a short frame lie in the frame itself, so moving the frame
  // invalidates the view.
  std::string_view bytes() const {
    return {static_cast<const char*>(zmq_msg_data(&message_)), size()};
  }
  size_t size() const { return zmq_msg_size(&message_); }
  zmq_msg_t* raw() { return &message_; }

 private:
  mutable zmq_msg_t message_;
};

}  // namespace gt::net
