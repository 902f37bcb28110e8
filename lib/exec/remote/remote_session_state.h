// The session behind remote_session.h: its threads and what they share.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>

#include "exec/comm/link.h"
#include "exec/remote/mailbox.h"
#include "exec/remote/remote_session.h"
#include "exec/trace/ran_log.h"
#include "net/member.h"
#include "net/peers.h"
#include "net/poller.h"

namespace gt {

// For the thread that decodes: a message with lines, or the end of them.
struct Inbound {
  Letter letter;
  bool is_end = false;
};

// What a worker tells of itself, and whom. It has no data endpoint yet.
MemberOptions member_options(const RemoteOptions& options);

// While there is one, SIGTERM and SIGINT wake the thread that waits.
class SignalGuard {
 public:
  SignalGuard(Wake& wake, bool is_local);
  SignalGuard(const SignalGuard&) = delete;
  SignalGuard& operator=(const SignalGuard&) = delete;
  ~SignalGuard();
  static bool is_told();
};

class RemoteSession {
 public:
  RemoteSession(const RemoteOptions& options, const WorkerOptions& worker,
                const std::function<void(std::string_view)>& say)
      : options_(options),
        worker_options_(worker),
        say_(say),
        guard_(wake_, !options.token.empty()) {}

  Exit run(Files files);

 private:
  // Results that wait to be sent; who makes more sleeps.
  static constexpr size_t kMostWaiting = size_t{16} << 20;
  // Blocks that gt-route has us keep; it has us keep much less.
  static constexpr size_t kMostBlocks = size_t{64} << 20;
  // Lines that wait to be decoded: a window of them, or one that is longer.
  static constexpr size_t kMostInbox = Joiner::kMaxJoined + (size_t{8} << 20);

  // ---- the thread that talks to gt-route
  Status join();
  bool await_welcome();
  void wait();
  void talk();
  bool take(MemberEvent& event);
  void send_out();
  comm::Waiting waiting();
  void send_done();
  void send_ran();
  void stop(std::string why);
  Exit end(std::thread& decoder);

  // ---- the thread that decodes
  void work(Files files);
  // What the worker computes with, and what makes it one of several.
  struct Resources {
    std::unique_ptr<Arena> arena;
    std::unique_ptr<Backend> compute;
    std::unique_ptr<Backend> backend;  // of the communication thread
    std::unique_ptr<comm::Link> link;
  };
  Status prepare(Resources& resources);
  Attachment attachment(const Resources& resources);
  Status work_on(Worker& worker);
  Status take_body(Worker& worker, const Letter& letter);
  Status take_round(Worker& worker, std::string_view body, uint64_t seq,
                    int64_t line);
  Result<std::string_view> body_of(const Message& message);
  Status forget(const Message& message);
  void take_line(Worker& worker, const NumberedLines::Item& item);
  void note_begin(Worker& worker);
  void note_done(Worker& worker);
  void show(Worker* worker);
  void send_report(const Report& report);
  int send_results(std::string_view bytes);
  void leave(Exit status, std::string_view why);

  const RemoteOptions& options_;
  const WorkerOptions& worker_options_;
  const std::function<void(std::string_view)>& say_;
  Wake wake_;
  SignalGuard guard_;
  Context context_;
  std::unique_ptr<Peers> peers_;
  std::unique_ptr<Member> member_;
  Poller poller_;

  Mailbox<Inbound> inbox_{SIZE_MAX};  // kMostInbox bounds it
  Mailbox<std::string> outbox_{kMostWaiting};
  std::atomic<uint64_t> done_seq_{0};
  std::atomic<uint64_t> done_bytes_{0};
  std::atomic<int64_t> finishes_since_{0};  // not 0: all lines have run
  std::atomic<bool> has_left_{false};
  std::atomic<bool> is_over_{false};  // nothing more is to be decoded
  std::optional<RanLog> ran_;         // once attached
  std::mutex worker_mutex_;
  Worker* worker_ = nullptr;   // while there is one
  Exit status_ = Exit::kDone;  // and why, once it has left
  std::string farewell_;

  // Of the thread that talks.
  std::string lost_;      // why it is over
  bool is_told_ = false;  // people have been told why
  Exit lost_status_ = Exit::kLost;
  std::atomic<bool> is_draining_{false};
  uint64_t told_seq_ = 0;
  uint64_t told_bytes_ = 0;
  int64_t told_at_ = 0;

  // Of the queue's thread.
  bool has_told_loss_ = false;
  uint64_t woken_bytes_ = 0;
  int64_t woken_at_ = 0;

  // Of the thread that decodes.
  std::deque<std::string> files_;
  std::unordered_map<std::string, std::string> blocks_;
  uint64_t first_seq_ = 0;  // of the message at hand
  size_t blocks_bytes_ = 0;
  uint64_t last_seq_ = 0;
  uint64_t taken_bytes_ = 0;
};

}  // namespace gt
