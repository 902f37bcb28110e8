// Feeds a session with text, or a whole program to emit().
#pragma once

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <string_view>

#include "base/writer.h"
#include "emit/emitter.h"
#include "emit/session.h"

namespace gt::emit {

// Keeps what each line becomes, and what is said of all of them.
class FedSession {
 public:
  explicit FedSession(EmitOptions options = {})
      : session(std::move(options),
                [this](std::string_view text) { said += text; }),
        file_(session.add_file("p", false)) {}

  // Feeds lines, and returns what the last of them became.
  std::string feed(std::string_view text) {
    std::string out;
    while (!text.empty()) {
      const size_t end = std::min(text.find('\n'), text.size());
      out.clear();
      session.feed(text.substr(0, end), {file_, ++line_}, out);
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    return out;
  }

  // The text of the state, without line numbers.
  std::string state() {
    std::string text;
    session.state(text, [](Origin&) {});
    return text;
  }

  std::string said;
  Session session;

 private:
  uint32_t file_;
  size_t line_ = 0;
};

// The text from `mark` on.
inline std::string from(const std::string& text, const std::string& mark) {
  const size_t at = text.find(mark);
  return at == std::string::npos ? "no " + mark + " in\n" + text
                                 : text.substr(at);
}

// The stream of a job, which is written into memory.
inline std::string stream_of(const EmitJob& job, Exit* status = nullptr) {
  const int fd = ::memfd_create("stream", MFD_CLOEXEC);
  EXPECT_GE(fd, 0);
  Writer writer(fd);
  const Exit done = emit(job, writer, [](std::string_view) {});
  writer.flush();
  if (status != nullptr) *status = done;
  std::string text(static_cast<size_t>(::lseek(fd, 0, SEEK_CUR)), '\0');
  EXPECT_EQ(::pread(fd, text.data(), text.size(), 0),
            static_cast<ssize_t>(text.size()));
  ::close(fd);
  return text;
}

inline std::string stream_of(const std::string& program, bool replay = true) {
  EmitJob job;
  job.inputs.push_back({EmitInput::Kind::kText, program, 1});
  job.replay = replay;
  return stream_of(job);
}

}  // namespace gt::emit
