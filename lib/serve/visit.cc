#include "serve/visit.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include "base/io.h"
#include "base/message.h"
#include "net/interrupts.h"
#include "net/poller.h"
#include "net/wire.h"
#include "ops/table.h"
#include "serve/visit_state.h"
#include "stream/marks.h"

namespace gt::serve {
namespace {

using emit::EmitInput;

constexpr size_t kReadAtOnce = size_t{256} << 10;
constexpr size_t kMostRepeated = size_t{1} << 30;  // bytes of --repeat's file
// The bytes of results that are written before gt-emit is told of them.
constexpr uint64_t kTellAt = uint64_t{256} << 10;

// The bytes of a program's inputs, one after the other.
class Inputs {
 public:
  Inputs(const emit::EmitJob& job,
         const std::function<void(std::string_view)>& say)
      : job_(job), say_(say) {}
  ~Inputs() { close(); }
  Inputs(const Inputs&) = delete;
  Inputs& operator=(const Inputs&) = delete;

  // True if send() can do something now, without waiting.
  bool is_ready() const {
    if (has_ended_ || fd_ < 0) return !has_ended_;
    pollfd p{fd_, POLLIN, 0};
    return ::poll(&p, 1, 0) > 0;
  }
  int fd() const { return fd_; }  // to be waited for; -1: there is none
  bool has_ended() const { return has_ended_; }
  Exit status() const { return status_; }

  // Sends what is available, at most `room` bytes.
  void send(VisitState& to, size_t room) {
    // The caller tests whether the new input has bytes already.
    if (!is_open_) {
      open(to);
      return;
    }
    if (holds_) return hold(to);
    buffer_.resize(std::min({room, kReadAtOnce, net::kMaxBody}));
    size_t bytes = 0;
    if (fd_ < 0) {
      bytes = take_text();
    } else {
      const long n = read_some(fd_, buffer_.data(), buffer_.size());
      if (n < 0) return fail(name_, errno);
      bytes = static_cast<size_t>(n);
    }
    if (bytes > 0) to.text(std::string_view(buffer_).substr(0, bytes));
    has_bytes_ = has_bytes_ || bytes > 0;
    const bool is_over = fd_ < 0 ? at_ == text_.size() : bytes == 0;
    if (is_over) end();
  }

 private:
  void open(VisitState& to) {
    const EmitInput& input = job_.inputs[next_];
    const bool is_file = input.kind == EmitInput::Kind::kFile;
    const bool is_text = input.kind == EmitInput::Kind::kText;
    name_ = is_file   ? input.text
            : is_text ? std::string("-e")
                      : std::string(kStdinName);
    is_open_ = true;
    has_bytes_ = false;
    at_ = 0;
    left_ = input.rounds;
    if (is_text) {
      text_ = input.text;
    } else {
      // Does not wait for a FIFO that nobody writes yet.
      constexpr int kFlags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;
      fd_ = is_file ? ::open(input.text.c_str(), kFlags) : STDIN_FILENO;
      if (fd_ < 0) return fail(input.text, errno);
      holds_ = input.rounds != 1;
      text_.clear();
    }
    if (!holds_) begin(to, 0);
  }

  void begin(VisitState& to, size_t lines) {
    const bool is_file = job_.inputs[next_].kind == EmitInput::Kind::kFile;
    to.input(name_, job_.session.at && (is_file || job_.at_stdin), lines);
  }

  // Fills the buffer with the text, as often as the text is to be sent. Returns
  // the number of bytes.
  size_t take_text() {
    size_t bytes = 0;
    while (bytes < buffer_.size() && at_ < text_.size()) {
      const size_t some =
          text_.copy(buffer_.data() + bytes, buffer_.size() - bytes, at_);
      bytes += some;
      at_ += some;
      if (at_ < text_.size() || left_ <= 1) continue;
      at_ = 0;
      --left_;
    }
    return bytes;
  }

  // A text that is sent more than once is kept first, in whole lines. Reads
  // some of it, and begins to send it when it is complete.
  void hold(VisitState& to) {
    buffer_.resize(kReadAtOnce);
    const long n = read_some(fd_, buffer_.data(), buffer_.size());
    if (n < 0) return fail(name_, errno);
    text_.append(buffer_, 0, static_cast<size_t>(n));
    if (text_.size() >= kMostRepeated) return fail(name_, EFBIG);
    if (n > 0) return;
    holds_ = false;
    has_bytes_ = !text_.empty();
    has_empty_pipe_ = !has_bytes_ && is_empty_pipe(fd_);
    close();
    if (text_.starts_with(kByteOrderMark)) {
      text_.erase(0, kByteOrderMark.size());
    }
    if (!text_.empty() && text_.back() != '\n') text_ += '\n';
    const auto lines = std::count(text_.begin(), text_.end(), '\n');
    if (left_ == 0) text_.clear();
    begin(to, static_cast<size_t>(lines));
  }

  void end() {
    if (!has_bytes_ && fd_ >= 0 && is_empty_pipe(fd_)) has_empty_pipe_ = true;
    if (has_empty_pipe_) {
      say_("gt-emit: " + name_ + ": " + cut_short_message({}, true, 0) + "\n");
      status_ = worst(status_, Exit::kLost);
      has_empty_pipe_ = false;
    }
    close();
    is_open_ = false;
    text_.clear();
    has_ended_ = ++next_ == job_.inputs.size();
  }

  void fail(const std::string& name, int error) {
    say_("gt-emit: cannot read " + (name.empty() ? "''" : name) + ": " +
         std::strerror(error) + "\n");
    status_ = worst(status_, Exit::kUsage);
    has_ended_ = true;
    close();
  }

  void close() {
    if (fd_ > STDIN_FILENO) ::close(fd_);
    fd_ = -1;
  }

  const emit::EmitJob& job_;
  const std::function<void(std::string_view)>& say_;
  size_t next_ = 0;  // index of the next input
  bool is_open_ = false;
  bool has_ended_ = false;
  bool has_bytes_ = false;
  bool has_empty_pipe_ = false;
  // The text that is sent more than once is being read into text_.
  bool holds_ = false;
  std::string name_;
  int fd_ = -1;       // the input that is read; if it is -1, text_ is sent
  std::string text_;  // the text that is sent `left_` times, from `at_` on
  size_t at_ = 0;
  size_t left_ = 1;
  std::string buffer_;
  Exit status_ = Exit::kDone;
};

class Visit {
 public:
  using Say = std::function<void(std::string_view)>;

  Visit(const emit::EmitJob& job, const VisitOptions& options, const Say& say)
      : options_(options),
        say_(say),
        state_(identity(job, options), net::now_ms()),
        caller_(context_, link_options(options), state_),
        inputs_(job, say) {}

  Exit run(const std::string& endpoint) {
    if (const Status s = caller_.connect(endpoint); !s.ok()) {
      say_("gt-emit: " + s.error().message + "\n");
      return Exit::kUsage;
    }
    while (!is_over_ || !out_.empty()) {
      wait();
      caller_.step();
      take_events();
      send();
      write();
      caller_.flush();
      if (interrupts_.take() != 0) return interrupt();
    }
    return worst(status_, inputs_.status());
  }

 private:
  static VisitIdentity identity(const emit::EmitJob& job,
                                const VisitOptions& options) {
    VisitIdentity me;
    me.endpoint = options.endpoint;
    me.table = std::to_string(table_digest());
    me.hello.user = options.user;
    me.trust = options.trust;
    me.hello.seed = job.session.seed;
    me.hello.history = job.session.history;
    me.hello.fails_fast = job.session.fail_fast;
    me.hello.replays = job.replay;
    me.hello.name = options.name;
    me.hello.attaches = options.attaches;
    me.hello.stays = options.stays;
    me.timing = net::Timing::with_silence(options.silence);
    return me;
  }

  static net::LinkOptions link_options(const VisitOptions& options) {
    net::LinkOptions link;
    link.trust = options.trust;
    link.max_message = net::kMaxMessage;
    return link;
  }

  bool may_send() const {
    return !is_over_ && !inputs_.has_ended() && state_.room() > 0 &&
           caller_.can_send();
  }

  void wait() {
    const bool reads = may_send();
    const bool is_ready = reads && inputs_.is_ready();
    poller_.clear();
    caller_.add_to(poller_);
    poller_.add_fd(interrupts_.fd());
    if (reads && !is_ready) poller_.add_fd(inputs_.fd());
    if (!out_.empty()) poller_.add_fd(STDOUT_FILENO, true);
    poller_.wait(is_ready ? 0 : caller_.wait_ms());
  }

  void send() {
    constexpr int kAtOnce = 4;
    for (int i = 0; i < kAtOnce && may_send() && inputs_.is_ready(); ++i) {
      inputs_.send(state_, state_.room());
    }
    if (inputs_.has_ended() && !has_said_end_ && state_.room() > 0) {
      has_said_end_ = true;
      state_.end();
    }
  }

  void take_events() {
    VisitEvent event;
    while (state_.next(event)) {
      switch (event.kind) {
        case VisitEvent::Kind::kResults:
          out_ += event.text;
          break;
        case VisitEvent::Kind::kReport:
          ++reports_;
          say_(event.text);
          break;
        case VisitEvent::Kind::kNotice:
          say_("gt-emit: " + event.text + "\n");
          break;
        case VisitEvent::Kind::kBye:
        case VisitEvent::Kind::kLost:
          if (!event.text.empty()) say_("gt-emit: " + event.text + "\n");
          status_ = worst(status_, event.status);
          is_over_ = true;
          break;
      }
    }
  }

  void write() {
    if (!out_.empty()) {
      const long n = write_ready(STDOUT_FILENO, out_);
      if (n < 0) return fail_output();
      written_ += static_cast<uint64_t>(n);
      out_.erase(0, static_cast<size_t>(n));
      if (!out_.empty() && written_ - told_ < kTellAt) return;
    }
    tell_taken();
    const bool may_leave = options_.stays && !options_.waits && !leaves_;
    if (may_leave && has_said_end_ && state_.is_heard() && out_.empty()) {
      leaves_ = true;
      state_.leave();
    }
  }

  void fail_output() {
    say_(std::string("gt-emit: cannot write standard output: ") +
         std::strerror(errno) + "\n");
    status_ = worst(status_, Exit::kUsage);
    is_over_ = true;
    out_.clear();
  }

  void tell_taken() {
    if ((written_ == told_ && reports_ == told_reports_) || is_over_) return;
    told_ = written_;
    told_reports_ = reports_;
    state_.taken(told_, told_reports_);
  }

  // A client with a name is kept if it has said so; others are ended at once.
  Exit interrupt() {
    if (options_.name.empty() || is_over_) return Exit::kInterrupted;
    constexpr int kLinger = 500;  // ms
    const bool is_here = state_.is_here();
    tell_taken();
    state_.leave();
    caller_.flush();
    caller_.linger(kLinger);
    if (options_.stays && is_here) {
      say_("gt-emit: it goes on as '" + options_.name + "'; --attach " +
           options_.name + " comes back to it\n");
    }
    return Exit::kInterrupted;
  }

  const VisitOptions& options_;
  const Say& say_;
  net::Interrupts interrupts_;  // before all members that start threads
  net::Context context_;
  VisitState state_;
  net::Caller caller_;
  Inputs inputs_;
  net::Poller poller_;
  std::string out_;  // results on their way to standard output
  uint64_t written_ = 0, told_ = 0;
  uint64_t reports_ = 0, told_reports_ = 0;
  bool leaves_ = false;
  bool has_said_end_ = false;
  bool is_over_ = false;
  Exit status_ = Exit::kDone;
};

}  // namespace

Exit run_visit(const emit::EmitJob& job, const VisitOptions& options,
               const std::function<void(std::string_view)>& say) {
  return Visit(job, options, say).run(options.endpoint);
}

}  // namespace gt::serve
