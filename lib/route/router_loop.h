// What gt-route does between two waits; see router.h.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "net/host.h"
#include "net/poller.h"
#include "route/client.h"
#include "route/dispatcher.h"
#include "route/input.h"
#include "route/interrupts.h"
#include "route/local_workers.h"
#include "route/router.h"
#include "route/run_recorder.h"

namespace gt {

class RouterLoop {
 public:
  RouterLoop(const RouterOptions& options, Client::Say say);
  Exit run();

 private:
  // What some workers have been sent, and which of it one has not finished, so
  // that a loss can be placed.
  struct Sent {
    Outbox::Batch batch;
    std::string file;
  };
  struct OnWay {
    std::shared_ptr<const Sent> sent;
    size_t part = 0;  // of its batch
    const BodyPart& body() const { return sent->batch.parts[part]; }
  };
  struct Unsent {
    Frame frame;
    Verb verb = Verb::kLines;
    uint64_t first = 0;  // seq
    uint64_t last = 0;
    size_t cost = 0;  // bytes of the text that it stands for
  };
  struct Worker {
    std::deque<Unsent> unsent;
    size_t unsent_bytes = 0;
    std::deque<OnWay> on_way;
    size_t unsent_parts = 0;  // the last of these, which wait in `unsent`
    size_t on_way_bytes = 0;  // costs of what was sent
    uint64_t last_seq = 0;    // of what was put on its way
    bool told_end = false;
    bool left = false;
    int64_t idle_ms = 0;   // since it has done all and owes a word
    std::string ended;     // of a child: how
    int64_t ended_at = 0;  // when its last words must have come
  };

  Status begin();
  bool all_left() const;
  bool is_over() const;
  bool has_stopped() const {
    return options_.fail_fast && client_.status != Exit::kDone;
  }
  bool wants_input() const;
  std::optional<uint32_t> who_is_full() const;
  void note_full();
  void wait();
  void read_input();
  void take_line(std::string_view line);
  bool repeat_rounds();
  void end_input();
  void take_signals();
  void write_results();
  void lose_output(const char* why);
  Exit end();

  // Workers.
  void take_events();
  void say_progress(const HostEvent& event);
  void say_who_is_here();
  std::string describe(uint32_t worker) const;
  void take_message(uint32_t worker, const Message& message);
  void take_report(uint32_t worker, const Message& message);
  void take_bye(uint32_t worker, const Message& message);
  bool has_done_all(uint32_t worker) const;
  void check_idle();
  void take_ends();
  bool see_end(uint32_t worker, int milliseconds);
  void lose_worker(uint32_t worker, const std::string& why);
  void lose(const std::string& why);
  void abort_workers(const std::string& why);
  std::string where_was(uint32_t worker) const;
  static std::string find_after(const BodyPart& part, uint64_t done,
                                const std::string& file);
  void send_bodies();
  void queue_batch(Outbox::Batch batch);
  void queue_part(const BodyPart& part, const std::vector<uint32_t>& workers);
  void queue_forget(uint64_t id);
  Status take_done(uint32_t w, uint64_t seq);
  void send_unsent(uint32_t w);

  const RouterOptions& options_;
  Client::Say say_;
  Interrupts interrupts_;
  Context context_;
  std::unique_ptr<Host> host_;
  LocalWorkers local_;
  RunRecorder log_;
  ResultOrder::Sink results_;  // with a log
  RouteInput input_;
  Client client_;
  Dispatcher dispatcher_;
  std::vector<Worker> workers_;
  // By id of a block: which workers keep it.
  std::unordered_map<uint64_t, std::vector<bool>> keepers_;
  Poller poller_;
  std::string out_;
  size_t written_ = 0;    // of out_
  int64_t deadline_ = 0;  // until all workers are there
  size_t told_here_ = 0;  // workers, until all are there
  int64_t next_told_ = 0;
  int64_t next_flush_ = 0;  // of the log
  int64_t full_since_ = 0;  // 0: it is not
  bool input_idle_ = false;
  bool input_ended_ = false;
  bool has_unread_ = false;  // an input could not be read to its end
  bool is_lost_ = false;
  bool is_interrupted_ = false;
  int64_t idle_checked_ = now_ms();
  int64_t drained_by_ = 0;  // not 0: then it ends, whoever is at work
  bool killed_ = false;
};

}  // namespace gt
