// RemoteWorker is the worker of an attached gt-work, with its backends and its
// link to other workers. It runs on the thread that decodes.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>

#include "exec/comm/peer_communicator.h"
#include "exec/remote/channel.h"
#include "exec/remote/ran_log.h"
#include "exec/remote/received_lines.h"
#include "exec/remote/remote_session.h"
#include "net/peers.h"

namespace gt::exec {

// All calls come from the thread that decodes; the worker's callbacks come from
// the thread of its compute queue.
class RemoteWorker final : private ReceivedLines::Sink {
 public:
  // All arguments must outlive the object. `welcome` is what gt-route said
  // about this worker and the others, to which `peers` connects it. `say` shows
  // people a message, from any thread.
  RemoteWorker(const RemoteOptions& options, const WorkerOptions& worker,
               const net::Welcome& welcome, net::Peers& peers, RanLog& ran,
               Channel& channel,
               const std::function<void(std::string_view)>& say)
      : options_(options),
        worker_options_(worker),
        welcome_(welcome),
        peers_(peers),
        ran_(ran),
        channel_(channel),
        say_(say) {}

  // Opens a backend as the options say.
  static Result<std::unique_ptr<Backend>> open_backend(
      const RemoteOptions& options, Arena* arena = nullptr, int threads = 1);

  // Works until gt-route has no more lines or the channel is stopped; then
  // leaves. `opened` may be null; it is kept until the worker has its own
  // backends, so that these find their device open already.
  void run(Files files, std::unique_ptr<Backend> opened);

 private:
  Status prepare();
  comm::GroupOptions group() const;
  void work(Files files);
  Status take_messages();

  bool begin_round() override;
  bool take(const ReceivedLines::Item& item) override;
  void end_round(bool is_last) override;

  // Called on the queue's thread.
  void note_done(uint64_t first, uint64_t last, uint64_t bytes);
  bool take_about_saves(std::string_view text);
  void publish_done();
  void send_report(const Report& report);
  int send_results(std::string_view bytes);

  const RemoteOptions& options_;
  const WorkerOptions& worker_options_;
  const net::Welcome& welcome_;
  net::Peers& peers_;
  RanLog& ran_;
  Channel& channel_;
  const std::function<void(std::string_view)>& say_;

  // What the worker computes with and, if it is one of several, exchanges
  // values with.
  std::unique_ptr<Arena> arena_;
  std::unique_ptr<Backend> compute_;
  std::unique_ptr<Backend> exchanging_;  // for the communication thread
  std::unique_ptr<comm::Link> link_;
  std::unique_ptr<comm::Communicator> communicator_;
  Worker* worker_ = nullptr;

  ReceivedLines lines_;
  std::deque<std::string> files_;  // the worker refers to them
  uint64_t first_seq_ = 0;         // in the round being decoded; 0: none yet
  uint64_t message_bytes_ = 0;     // of the message being decoded
  uint64_t taken_bytes_ = 0;       // of all messages before it

  // Used on the queue's thread.
  uint64_t done_ = 0;  // the seq up to which all lines have run
  bool has_told_loss_ = false;
  uint64_t woken_bytes_ = 0;
  int64_t woken_at_ = 0;
};

}  // namespace gt::exec
