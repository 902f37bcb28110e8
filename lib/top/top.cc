#include "top/top.h"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "base/clock.h"
#include "base/text.h"
#include "file/replacement.h"
#include "top/batch.h"
#include "top/metrics.h"
#include "top/metrics_server.h"
#include "top/screen.h"
#include "top/session.h"
#include "top/terminal.h"

namespace gt::top {
namespace {

// A program takes a gt-route for lost that is silent for this long; on the
// screen its silence is shown.
constexpr int64_t kLost = 60'000;  // milliseconds
constexpr int64_t kWorthAWord = 3000;

double seconds_since_1970() { return static_cast<double>(wall_ns()) / 1e9; }

int64_t milliseconds(double seconds) {
  return static_cast<int64_t>(seconds * 1000);
}

void say_end(const TopOptions& options, const Session& session) {
  if (session.why().empty()) return;
  const std::string text = "gt-top: " + session.why() + "\n";
  session.has_ended() ? options.tell(text) : options.say(text);
}

Exit cannot_begin(const TopOptions& options, const Status& status) {
  options.say("gt-top: " + status.error().message + "\n");
  return Exit::kUsage;
}

// True if gt-route is silent for too long, which is then reported.
bool is_silent(const TopOptions& options, const Session& session) {
  if (session.silence() < kLost) return false;
  options.say("gt-top: nothing was heard of gt-route at " +
              options.watcher.endpoint + " for " + seconds_text(kLost) + "\n");
  return true;
}

}  // namespace

// ---- on a terminal ----------------------------------------------------------

Exit run_screen(const TopOptions& options) {
  Session session(options);
  if (Status s = session.begin(); !s.ok()) return cannot_begin(options, s);
  // The terminal is taken over only once there is something to show.
  while (!session.is_new() && !session.is_over() && !session.is_interrupted()) {
    session.wait(INT64_MAX);
  }
  if (!session.is_new()) {
    say_end(options, session);
    return session.status();
  }
  Screen screen;
  bool goes_on = true;
  {
    Terminal terminal(options.has_color);
    if (!terminal.ok()) {
      options.say(
          "gt-top: the terminal's type ($TERM) is unknown or dumb; use -b\n");
      return Exit::kUsage;
    }
    const int64_t apart = milliseconds(options.seconds);
    int64_t next = 0;
    while (goes_on && !session.is_interrupted()) {
      const int64_t now = net::now_ms();
      if (now >= next || session.is_over()) {
        screen.show(session.model());
        next = now + apart;
      }
      screen.silent(session.silence() < kWorthAWord ? 0 : session.silence());
      terminal.draw(screen.draw(terminal.rows(), terminal.columns()));
      session.wait(session.is_over() ? INT64_MAX : next, STDIN_FILENO);
      goes_on = terminal.take_keys(screen);
      pollfd in{STDIN_FILENO, 0, 0};  // has the terminal gone?
      if (::poll(&in, 1, 0) > 0 && (in.revents & (POLLHUP | POLLERR)) != 0) {
        goes_on = false;
      }
    }
  }
  say_end(options, session);
  return session.status();
}

// ---- for programs -----------------------------------------------------------

Exit run_batch(const TopOptions& options, Writer& out) {
  Session session(options);
  if (Status s = session.begin(); !s.ok()) return cannot_begin(options, s);
  out.write(batch_header());
  out.flush();
  const int64_t apart = milliseconds(options.seconds);
  int64_t next = INT64_MAX;  // until the first state is there
  uint64_t written = 0;
  while (out.ok() && !session.is_interrupted() && !session.is_over()) {
    session.wait(next);
    if (session.is_new() && next == INT64_MAX) next = net::now_ms() + apart;
    if (is_silent(options, session)) return Exit::kLost;
    const bool is_last = session.has_ended() && session.model().has_any();
    if (!is_last && net::now_ms() < next) continue;
    if (session.is_over() && !is_last) continue;
    out.write(batch_rows(session.model(), seconds_since_1970()));
    out.flush();
    next += apart;
    if (++written == options.count) return session.status();
  }
  say_end(options, session);
  return session.status();
}

// ---- for Prometheus ---------------------------------------------------------

namespace {

Status write_file(const std::string& path, const std::string& text) {
  const auto files = Files::make({});
  if (!files.ok()) return files.error();
  auto target = files.value().target(path);
  if (!target.ok()) return target.error();
  Replacement file(std::move(target.value()));
  Status status = file.fd() < 0
                      ? Status(Error{std::strerror(file.errno_value())})
                      : write_all(file.fd(), text.data(), text.size());
  if (status.ok()) {
    (void)::fchmod(file.fd(), 0644);  // the collector is another user
    status = file.commit();
  }
  if (status.ok()) return status;
  return Error{path + ": " + status.error().message};
}

// A file of metrics, which is written again and again. An error is reported
// once, and so is its end; until then the file keeps the last text that was
// written.
class MetricsFile {
 public:
  explicit MetricsFile(const TopOptions& options) : options_(options) {}

  // Writes the file. Returns false if it was never written, so that the error
  // is not a passing one.
  bool write(const std::string& text) {
    const Status status = write_file(options_.metrics, text);
    if (status.ok()) {
      if (fails_) {
        options_.tell("gt-top: --metrics: " + options_.metrics +
                      " is written again\n");
      }
      fails_ = false;
      was_written_ = true;
    } else if (!fails_) {
      fails_ = true;
      options_.say(
          "gt-top: --metrics: " + status.error().message +
          (was_written_ ? "; it stays as it was, and is tried again" : "") +
          "\n");
    }
    return was_written_;
  }
  bool fails() const { return fails_; }

 private:
  const TopOptions& options_;
  bool fails_ = false;
  bool was_written_ = false;
};

}  // namespace

Exit run_metrics(const TopOptions& options) {
  Session session(options);
  if (Status s = session.begin(); !s.ok()) return cannot_begin(options, s);
  std::unique_ptr<MetricsServer> server;
  if (is_metrics_address(options.metrics)) {
    auto made = MetricsServer::make(options.metrics);
    if (!made.ok()) {
      options.say("gt-top: --metrics: " + made.error().message + "\n");
      return Exit::kUsage;
    }
    server = std::move(made.value());
    options.tell("gt-top: serves /metrics at port " +
                 std::to_string(server->port()) + "\n");
  }
  MetricsFile file(options);
  const int64_t apart = milliseconds(options.seconds);
  int64_t next = 0;
  while (!session.is_interrupted() && !session.is_over()) {
    session.wait(next == 0 ? INT64_MAX : next);
    if (is_silent(options, session)) return Exit::kLost;
    if (!session.model().has_any()) continue;
    if (server != nullptr && !session.is_new()) continue;
    if (server == nullptr && net::now_ms() < next && !session.is_over()) {
      continue;
    }
    next = net::now_ms() + apart;
    std::string text = metrics_text(session.model().now(), session.is_over());
    if (server != nullptr) {
      server->set(std::move(text));
    } else if (!file.write(text)) {
      return Exit::kUsage;
    }
  }
  say_end(options, session);
  return file.fails() ? worst(session.status(), Exit::kUsage)
                      : session.status();
}

}  // namespace gt::top
