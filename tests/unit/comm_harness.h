// Several workers in one process, whose link is a few queues; and the same
// program on one worker.
#pragma once

#include <algorithm>
#include <array>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "comm_board.h"
#include "exec/comm/peer_communicator.h"
#include "exec/memory/arena.h"
#include "exec_harness.h"

namespace gt::exec {

// Keeps what workers say to each other in order. A test may look at a message,
// and hold it back until release().
class Hub {
 public:
  // Called by the thread of the sender; true holds the message back.
  using Watch =
      std::function<bool(unsigned from, unsigned to, const std::string& bytes)>;

  explicit Hub(unsigned workers, Watch watch = {})
      : boxes_(workers), watch_(std::move(watch)), board_(workers) {}

  Board& board() { return board_; }
  void send(unsigned from, unsigned to, std::string bytes) {
    const bool is_held = watch_ && watch_(from, to, bytes);
    {
      const std::lock_guard lock(mutex_);
      // No message overtakes one that is held back.
      auto& held = held_[{from, to}];
      if (holds_ && (is_held || !held.empty())) {
        held.push_back(std::move(bytes));
        return;
      }
      boxes_[to].messages.push_back({from, std::move(bytes)});
    }
    changed_.notify_all();
  }
  void release() {
    {
      const std::lock_guard lock(mutex_);
      holds_ = false;
      for (auto& [ends, messages] : held_) {
        for (auto& bytes : messages) {
          boxes_[ends.second].messages.push_back(
              {ends.first, std::move(bytes)});
        }
        messages.clear();
      }
    }
    changed_.notify_all();
  }
  bool receive(unsigned worker, comm::Incoming& message,
               std::chrono::milliseconds most) {
    Box& box = boxes_[worker];
    std::unique_lock lock(mutex_);
    const auto ready = [&] { return box.is_woken || !box.messages.empty(); };
    if (most.count() < 0) {
      changed_.wait(lock, ready);
    } else {
      changed_.wait_for(lock, most, ready);
    }
    box.is_woken = false;
    if (box.messages.empty()) return false;
    message = std::move(box.messages.front());
    box.messages.pop_front();
    return true;
  }
  void wake(unsigned worker) {
    {
      const std::lock_guard lock(mutex_);
      boxes_[worker].is_woken = true;
    }
    changed_.notify_all();
  }

 private:
  struct Box {
    std::deque<comm::Incoming> messages;
    bool is_woken = false;
  };
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Box> boxes_;
  Watch watch_;
  Board board_;
  bool holds_ = true;
  std::map<std::pair<unsigned, unsigned>, std::deque<std::string>> held_;
};

class HubLink final : public comm::Link {
 public:
  HubLink(Hub& hub, unsigned worker) : hub_(hub), worker_(worker) {}
  Status send(unsigned worker, std::string message) override {
    hub_.send(worker_, worker, std::move(message));
    return ok_status();
  }
  bool receive(comm::Incoming& message,
               std::chrono::milliseconds most) override {
    return hub_.receive(worker_, message, most);
  }
  void wake() override { hub_.wake(worker_); }

 private:
  Hub& hub_;
  unsigned worker_;
};

// The ways in which values go from worker to worker.
enum class Way : uint8_t {
  kMapped,    // in arenas that others map
  kFetched,   // in messages
  kOnABoard,  // by a communicator of the tests
};
inline constexpr std::array kWays{Way::kMapped, Way::kFetched, Way::kOnABoard};
inline const char* name_of(Way way) {
  return way == Way::kMapped    ? " mapped"
         : way == Way::kFetched ? " fetched"
                                : " on a board";
}

struct TeamOptions {
  unsigned workers = 2;
  std::string ranks;  // the words after "#ranks - "
  Way way = Way::kMapped;
  std::string backend = "ref";
  WorkerOptions worker;
  std::chrono::milliseconds patience{20'000};
};

// One of several workers, and what it prints and says.
class TeamMember {
 public:
  TeamMember(Hub& hub, unsigned self, const TeamOptions& options)
      : board_(hub.board()), link_(hub, self), writer_(file_.fd()) {
    if (options.way == Way::kMapped) {
      auto arena = Arena::make(size_t{64} << 20);
      EXPECT_TRUE(arena.ok()) << arena.error().message;
      arena_ = std::move(arena.value());
    }
    backend_ = make(options, 1);
    exchanges_ = make(options, 1);
    auto files = Files::make({});
    worker_ = std::make_unique<Worker>(
        *backend_, files.value(), writer_,
        [this](const Report& r) { messages_ += r.text; }, options.worker);
    self_ = self;
    options_ = options;
  }

  Status attach() {
    if (options_.way == Way::kOnABoard) {
      communicator_ = std::make_unique<BoardCommunicator>(board_, self_,
                                                          exchanges_->device());
    } else {
      communicator_ = make_peers();
    }
    worker_->attach({self_, options_.workers, *communicator_, *exchanges_});
    return worker_->meet();
  }
  Worker& worker() { return *worker_; }
  Outcome finish() {
    Outcome outcome;
    outcome.status = worker_->finish();
    outcome.stats = worker_->stats();
    worker_.reset();
    outcome.out = file_.text();
    outcome.messages = messages_;
    return outcome;
  }

 private:
  std::unique_ptr<comm::Communicator> make_peers() {
    comm::GroupOptions group;
    group.self = self_;
    group.workers = options_.workers;
    group.link = &link_;
    group.patience = options_.patience;
    return std::make_unique<comm::PeerCommunicator>(group, arena_.get(),
                                                    exchanges_->device());
  }
  std::unique_ptr<Backend> make(const TeamOptions& options, int threads) {
    auto made = make_backend(options.backend, {threads, "", arena_.get()});
    EXPECT_TRUE(made.ok());
    return std::move(made.value());
  }

  Board& board_;
  HubLink link_;
  MemoryFile file_;
  Writer writer_;
  std::unique_ptr<Arena> arena_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<Backend> exchanges_;
  std::unique_ptr<comm::Communicator> communicator_;
  std::string messages_;
  unsigned self_ = 0;
  TeamOptions options_;
  std::unique_ptr<Worker> worker_;
};

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

// Feeds every line to every worker, which plays its own part of it. A line such
// as "1: print x" is fed only to that worker.
inline std::vector<Outcome> run_team(const std::string& text,
                                     const TeamOptions& options,
                                     Hub::Watch watch = {}) {
  Hub hub(options.workers, std::move(watch));
  const std::vector<std::string> lines = lines_of(text);
  const std::string name = "t";
  std::vector<Outcome> outcomes(options.workers);
  std::vector<std::thread> threads;
  for (unsigned w = 0; w < options.workers; ++w) {
    threads.emplace_back([&, w] {
      TeamMember member(hub, w, options);
      const Status attached = member.attach();
      EXPECT_TRUE(attached.ok()) << attached.error().message;
      if (!attached.ok()) return;
      member.worker().line("#ranks - " + options.ranks, &name, 0, 0);
      uint64_t number = 0;
      for (const std::string& line : lines) {
        ++number;
        const bool is_for_one =
            line.size() > 3 && line.compare(1, 2, ": ") == 0;
        if (is_for_one && line[0] != static_cast<char>('0' + w)) continue;
        member.worker().line(line.substr(is_for_one ? 3 : 0), &name, number,
                             number);
      }
      outcomes[w] = member.finish();
    });
  }
  for (std::thread& thread : threads) thread.join();
  return outcomes;
}

// The results of all workers, sorted: each of them is printed once.
inline std::vector<std::string> sorted_lines(
    const std::vector<Outcome>& outcomes) {
  std::vector<std::string> all;
  for (const Outcome& outcome : outcomes) {
    for (std::string& line : lines_of(outcome.out)) {
      all.push_back(std::move(line));
    }
  }
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace gt::exec
