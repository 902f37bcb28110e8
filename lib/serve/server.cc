#include "serve/server.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "base/clock.h"
#include "base/io.h"
#include "net/interrupts.h"
#include "net/listener.h"
#include "net/poller.h"
#include "net/pulse.h"
#include "ops/table.h"
#include "serve/client_connections.h"
#include "serve/client_marks.h"
#include "serve/file_server.h"
#include "serve/listener_demux.h"
#include "serve/unread_results.h"
#include "stream/marks.h"

namespace gt::serve {
namespace {

constexpr size_t kMostOut = size_t{64} << 10;  // bytes that wait to be written
constexpr int64_t kLook = 2000;      // ms between looks at the list of keys
constexpr int64_t kPatience = 1000;  // ms that clients have to leave at the end
// What lines of clients may take before the connections are looked at again, in
// nanoseconds.
constexpr int64_t kTurn = 100'000'000;
constexpr size_t kReadOfResults = size_t{1} << 20;  // bytes of results

net::LinkOptions link_options(const ServerOptions& options) {
  net::LinkOptions link;
  link.trust = options.trust;
  link.max_message = net::kMaxMessage;
  // The queue holds more than a client can be owed at once, which UnreadResults
  // bounds, so that no client is lost for lack of room.
  link.send_queue =
      2 * (UnreadResults::kMostResults + UnreadResults::kMostReports);
  return link;
}

// With keys, nobody is admitted before the list was read.
std::optional<std::map<std::string, net::KeyHolder>> nobody(
    const ServerOptions& options) {
  if (!options.trust.keys) return std::nullopt;
  return std::map<std::string, net::KeyHolder>();
}

// The results that come back: a file that is read without waiting.
class Back {
 public:
  Status open(const std::string& path) {
    fd_ = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    struct stat info {};
    if (fd_ < 0 || ::fstat(fd_, &info) != 0) {
      return Error{path + ": " + std::strerror(errno) +
                   "; make it with mkfifo"};
    }
    if (S_ISREG(info.st_mode) || S_ISDIR(info.st_mode)) {
      return Error{path +
                   ": results come back through a FIFO (mkfifo), and "
                   "this is none"};
    }
    return ok_status();
  }
  ~Back() {
    if (fd_ >= 0) ::close(fd_);
  }
  int fd() const { return fd_; }

  // Reads what is there, and calls each(line) for every whole line. Returns
  // false if the file has ended.
  template <typename Each>
  bool read(const Each& each) {
    size_t got = 0;
    while (got < kReadOfResults) {
      const size_t before = text_.size();
      constexpr size_t kPiece = size_t{64} << 10;
      text_.resize(before + kPiece);
      const ssize_t n = ::read(fd_, text_.data() + before, kPiece);
      text_.resize(before + static_cast<size_t>(std::max<ssize_t>(n, 0)));
      if (n == 0) return false;
      if (n < 0) {
        if (errno == EAGAIN || errno == EINTR) break;
        return false;
      }
      got += static_cast<size_t>(n);
    }
    size_t begin = 0;
    for (;;) {
      const size_t lf = text_.find('\n', std::max(begin, looked_));
      if (lf == std::string::npos) break;
      each(std::string_view(text_).substr(begin, lf - begin));
      begin = lf + 1;
    }
    text_.erase(0, begin);
    looked_ = text_.size();
    return true;
  }

 private:
  int fd_ = -1;
  std::string text_;   // a line that has not come whole
  size_t looked_ = 0;  // bytes of it that have no LF
};

class Server {
 public:
  using Say = std::function<void(std::string_view)>;

  Server(const ServerOptions& options, const Say& say)
      : options_(options),
        say_(say),
        connections_({.table = std::to_string(table_digest()),
                      .most = options.most,
                      .most_of_user = options.most_of_user,
                      .keep = options.keep,
                      .timing = net::Timing::with_silence(options.silence)},
                     net::now_ms()),
        file_server_(
            {.lender = {options.multiplexer.files, options.quota_files},
             .users = nobody(options)},
            disk_, net::now_ms()),
        door_(connections_, file_server_),
        listener_(context_, link_options(options), options.admits, door_),
        multiplexer_(
            options.multiplexer, disk_,
            {.send =
                 [this](ClientId client, std::string message) {
                   const std::lock_guard lock(talk_);
                   connections_.send(client, std::move(message));
                 },
             .bye =
                 [this](ClientId client, Exit status) {
                   const std::lock_guard lock(talk_);
                   connections_.bye(client, status, "");
                 },
             .part =
                 [this](ClientId client, Exit status) {
                   tell(client, "leaves, and is kept");
                   const std::lock_guard lock(talk_);
                   connections_.part(client, status);
                 },
             .begin_long_work =
                 [this] {
                   return std::make_shared<net::Pulse>([this] { beat(); });
                 },
             .is_late = [this] { return is_late(); }}) {}

  Exit run() {
    look_at_keys();
    Status begun = back_.open(options_.back);
    if (begun.ok()) begun = listener_.bind(options_.endpoint);
    if (!begun.ok()) {
      say_("gt-emit: " + begun.error().message + "\n");
      (void)write_all(STDOUT_FILENO, std::string(kOpenMark) + "\n" +
                                         end_mark(Exit::kUsage) + "\n");
      return Exit::kUsage;
    }
    if (options_.verbose) {
      say_("gt-emit: listens at " + listener_.endpoint() + "\n");
    }
    out_ = std::string(kOpenMark) + "\n" + std::string(kReportsMark) + "\n";
    while (status_ == Exit::kDone) {
      wait();
      turn_began_ = steady_ns();
      listener_.step();
      look_at_reader();
      read_back();
      take_events();
      look_at_keys();
      is_working_ = multiplexer_.work();
      if (out_.size() < kMostOut)
        marks_.write(multiplexer_, net::now_ms(), out_);
      write();
      is_working_ = is_working_ || is_late();
      multiplexer_.each_room([this](ClientId client, uint64_t bytes) {
        connections_.make_room(client, bytes);
      });
      listener_.flush();
      take_signals();
    }
    return end();
  }

 private:
  // On a thread of its own, while a line of a client takes long.
  void beat() {
    const std::lock_guard lock(talk_);
    door_.tick(net::now_ms(), false);
    listener_.flush();
  }

  bool is_late() const { return steady_ns() - turn_began_ > kTurn; }

  void wait() {
    poller_.clear();
    listener_.add_to(poller_);
    poller_.add_fd(interrupts_.fd());
    poller_.add_fd(disk_.fd());
    back_ready_ = poller_.add_fd(back_.fd());
    out_ready_ = out_.empty() ? poller_.add_end_of(STDOUT_FILENO)
                              : poller_.add_fd(STDOUT_FILENO, true);
    const int64_t told = std::max<int64_t>(0, marks_.next() - net::now_ms());
    poller_.wait(is_working_ ? 0 : std::min(listener_.wait_ms(), told));
    disk_.clear();
  }

  // Notices at once that the reader of the stream has left, not only when the
  // next line is written.
  void look_at_reader() {
    if (!out_.empty() || !poller_.ready(out_ready_)) return;
    lose(std::string("standard output: ") + std::strerror(EPIPE));
  }

  void read_back() {
    if (!poller_.ready(back_ready_)) return;
    const int64_t now = steady_ns();
    const bool goes_on = back_.read(
        [&](std::string_view line) { multiplexer_.take_back(line, now); });
    if (!goes_on) lose("the results, " + options_.back + ", have ended");
  }

  void take_events() {
    ClientEvent event;
    while (connections_.next(event)) {
      switch (event.kind) {
        case ClientEvent::Kind::kCame:
          tell(event.client, "comes: " + event.hello.user);
          connections_.open(event.client);
          multiplexer_.come(event.client, event.hello);
          break;
        case ClientEvent::Kind::kBack:
          tell(event.client, "is back: " + event.hello.user);
          connections_.open(event.client);
          check(event.client,
                multiplexer_.come_back(event.client, event.hello));
          break;
        case ClientEvent::Kind::kMessage:
          check(event.client,
                multiplexer_.take(event.client, event.owned.message));
          break;
        case ClientEvent::Kind::kAway:
          tell(event.client, "is away, and is kept: " + event.why);
          multiplexer_.go_away(event.client);
          break;
        case ClientEvent::Kind::kLeft:
          tell(event.client, "goes");
          multiplexer_.say_goodbye(event.client);
          break;
        case ClientEvent::Kind::kGone:
          tell(event.client, "is gone: " + event.why);
          multiplexer_.leave(event.client);
          break;
        case ClientEvent::Kind::kRefused:
          say_("gt-emit: " + event.why + "\n");
          break;
      }
    }
  }

  // Disconnects a client whose message cannot be taken.
  void check(ClientId client, const Status& taken) {
    if (taken.ok()) return;
    tell(client, "is gone: " + taken.error().message);
    connections_.bye(client, Exit::kLost, taken.error().message);
    multiplexer_.leave(client);
  }

  void tell(ClientId client, const std::string& what) {
    if (!options_.verbose) return;
    say_("gt-emit: client c" + std::to_string(client) + " " + what + "\n");
  }

  // Blocks go out one after the other, as fast as they are taken: nothing can
  // overtake what waits here.
  void write() {
    for (;;) {
      while (out_.size() < kMostOut &&
             multiplexer_.next_block(out_, steady_ns())) {
      }
      if (out_.empty()) return;
      const long n = write_ready(STDOUT_FILENO, out_);
      if (n < 0) {
        return lose(std::string("standard output: ") + std::strerror(errno));
      }
      out_.erase(0, static_cast<size_t>(n));
      if (!out_.empty()) return;
    }
  }

  // Disconnects the holders of keys that were removed from the list.
  void look_at_keys() {
    const int64_t now = net::now_ms();
    if (!options_.trust.keys || now < next_look_) return;
    next_look_ = now + kLook;
    auto users = net::reread_open_keys(options_.allow);
    const std::string wrong = users.ok() ? "" : users.error().message;
    if (wrong != std::exchange(keys_wrong_, wrong) && !wrong.empty()) {
      say_("gt-emit: " + wrong +
           (::access(options_.allow.c_str(), R_OK) != 0
                ? "; until it can be read nobody new is let in\n"
                : "; until that is mended no key is taken from the list, nor "
                  "added\n"));
    }
    if (!users.ok()) return;
    // A file that is being written may be empty for a moment.
    const bool is_empty = users.value().empty();
    if (is_empty && !std::exchange(keys_empty_, is_empty)) return;
    keys_empty_ = is_empty;
    file_server_.set_users(users.value());
    connections_.set_users(std::move(users.value()));
  }

  void take_signals() {
    while (interrupts_.take() != 0) {
      status_ = worst(status_, Exit::kInterrupted);
      why_ = "it was ended";
    }
  }

  void lose(const std::string& why) {
    if (status_ != Exit::kDone) return;
    status_ = Exit::kLost;
    why_ = "what runs the programs behind it has ended";
    say_("gt-emit: " + why + "; all clients are told, and it ends\n");
  }

  Exit end() {
    multiplexer_.each_client([this](ClientId client) {
      connections_.bye(client, Exit::kLost, "gt-emit has ended: " + why_);
    });
    const int64_t until = net::now_ms() + kPatience;
    for (listener_.flush(); connections_.leaving() > 0; listener_.step()) {
      const int64_t left = until - net::now_ms();
      if (left <= 0) break;
      poller_.clear();
      listener_.add_to(poller_);
      poller_.wait(std::min(left, listener_.wait_ms()));
    }
    if (status_ != Exit::kLost) {
      out_ += end_mark(status_) + "\n";
      (void)write_all(STDOUT_FILENO, out_);
    }
    // Nobody can end a thread that waits for a disk, but with the process.
    if (disk_.busy() > 0) options_.end_process(status_);
    return status_;
  }

  const ServerOptions& options_;
  const Say& say_;
  // Before all members that start threads, which inherit the blocked signals.
  net::Interrupts interrupts_;
  DiskThreads disk_;
  net::Context context_;
  ClientConnections connections_;
  FileServer file_server_;
  ListenerDemux door_;
  net::Listener listener_;
  // Guards the four above while there is a pulse; the multiplexer reaches them
  // by its callbacks alone.
  std::mutex talk_;
  Multiplexer multiplexer_;
  ClientMarks marks_;
  Back back_;
  net::Poller poller_;
  size_t back_ready_ = 0, out_ready_ = 0;
  std::string out_;  // on its way to standard output
  bool is_working_ = false;
  int64_t turn_began_ = 0;
  int64_t next_look_ = 0;      // the time of the next look at the list of keys
  bool keys_empty_ = false;    // the list was empty at the last look
  std::string keys_wrong_;     // what is wrong with the list
  Exit status_ = Exit::kDone;  // kDone while it serves
  std::string why_;
};

// Returns how many clients may be there at once.
size_t most_clients(size_t asked,
                    const std::function<void(std::string_view)>& say) {
  // The descriptors of the server itself, of borrowers, and of files.
  constexpr size_t kBeside = 64;
  if (asked != 0) {
    net::need_descriptors(asked + kBeside);
    return asked;
  }
  const size_t spare = net::spare_descriptors(kMostClients + kBeside);
  if (spare == kMostClients + kBeside) return kMostClients;
  const size_t most = spare > kBeside ? spare - kBeside : 1;
  say("gt-emit: the limit of open files (ulimit -n) leaves room for " +
      std::to_string(most) + " clients at once, and not for " +
      std::to_string(kMostClients) + "\n");
  return most;
}

}  // namespace

Exit run_server(const ServerOptions& options,
                const std::function<void(std::string_view)>& say) {
  std::signal(SIGPIPE, SIG_IGN);
  ServerOptions with_most = options;
  with_most.most = most_clients(options.most, say);
  return Server(with_most, say).run();
}

}  // namespace gt::serve
