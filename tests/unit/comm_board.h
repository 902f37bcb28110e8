// A communicator between workers of one process: the others read what a worker
// shows at its address. It shares no code with PeerCommunicator, so both are
// held to what comm/communicator.h says.
#pragma once

#include <condition_variable>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "exec/comm/communicator.h"
#include "exec/memory/device.h"

namespace gt::exec {

// What all workers show each other; one mutex guards it.
struct Board {
  explicit Board(unsigned n) : workers(n), passed(n), reads(n), woken(n) {}

  struct Shown {
    const void* data = nullptr;
    Type type;
    Fault fault;
    comm::Communicator::RunPtr run;
    std::set<unsigned> readers;  // those that have not read it
  };
  using Key = std::pair<unsigned, comm::Tag>;  // its owner, and which value

  // Notes that the reader has read it, so that its owner will hear of that.
  void note_read(std::map<Key, Shown>::iterator it, unsigned reader) {
    if (it->second.readers.erase(reader) == 0) return;
    reads[it->first.first].push_back(it->second.run);
    if (it->second.readers.empty()) shown.erase(it);
  }

  unsigned workers;
  std::mutex mutex;
  std::condition_variable changed;
  std::map<Key, Shown> shown;
  std::vector<comm::Tag> passed;  // by worker: it is done with all before
  // By owner, the reads that it has not heard of yet.
  std::vector<std::vector<comm::Communicator::RunPtr>> reads;
  std::vector<bool> woken;
};

class BoardCommunicator final : public comm::Communicator {
 public:
  BoardCommunicator(Board& board, unsigned self, Device& device)
      : board_(board), self_(self), device_(device) {}

  Status connect(User& user) override {
    user_ = &user;
    return ok_status();
  }

  void show(const RunPtr& run, size_t step) override {
    const auto& exports = run->exchange->parts[step].exports;
    const std::lock_guard lock(board_.mutex);
    for (size_t e = 0; e < exports.size(); ++e) {
      const auto value = run->exported(step, e);
      const comm::Tag tag = run->tag(step, exports[e].source);
      Board::Shown shown{value.data, exports[e].type, value.fault, run, {}};
      for (const unsigned reader : exports[e].readers) {
        if (is_aborted_ || tag < board_.passed[reader]) continue;
        shown.readers.insert(reader);
        ++run->unreleased;
      }
      if (!shown.readers.empty()) board_.shown[{self_, tag}] = shown;
    }
    board_.changed.notify_all();
  }

  const void* read(comm::ExchangeRun& run, size_t step,
                   const comm::Input& input, void* pack, bool is_wanted,
                   Fault& fault) override {
    const Board::Key key{input.worker, run.tag(step, input.source)};
    Board::Shown shown;
    {
      std::unique_lock lock(board_.mutex);
      board_.changed.wait(
          lock, [&] { return is_aborted_ || board_.shown.count(key) > 0; });
      if (board_.shown.count(key) == 0) {
        fault = run.fail(why_, Exit::kLost);
        return nullptr;
      }
      shown = board_.shown[key];
    }
    fault = shown.fault;
    if (fault != nullptr) return nullptr;
    const bool is_read = is_wanted && device_.has_data();
    user_->arrived(input, is_read);
    if (!is_read) return nullptr;
    const auto found = input.region.find(shown.data, pack, device_);
    EXPECT_TRUE(found.ok());
    return found.value();
  }

  void release(const comm::ExchangeRun& run, size_t step) override {
    const std::lock_guard lock(board_.mutex);
    for (const comm::Target& target : run.exchange->parts[step].targets) {
      for (const comm::Input& input : target.inputs) {
        if (input.own >= 0) continue;
        const auto it =
            board_.shown.find({input.worker, run.tag(step, input.source)});
        if (it != board_.shown.end()) board_.note_read(it, self_);
      }
    }
    board_.changed.notify_all();
  }

  void pass(const comm::ExchangeRun& run) override {
    const std::lock_guard lock(board_.mutex);
    board_.passed[self_] = {run.seq, run.exchange->group + 1, 0, 0};
    for (auto it = board_.shown.begin(); it != board_.shown.end();) {
      const auto next = std::next(it);
      if (it->first.second < board_.passed[self_]) board_.note_read(it, self_);
      it = next;
    }
    board_.changed.notify_all();
  }

  void serve() override {
    std::vector<RunPtr> read;
    {
      std::unique_lock lock(board_.mutex);
      if (is_aborted_) {  // no worker is waited for any more
        for (auto it = board_.shown.begin(); it != board_.shown.end();) {
          const auto next = std::next(it);
          if (it->first.first == self_) {
            const std::set<unsigned> readers = it->second.readers;
            for (const unsigned reader : readers) board_.note_read(it, reader);
          }
          it = next;
        }
      }
      board_.changed.wait(lock, [&] {
        return board_.woken[self_] || !board_.reads[self_].empty();
      });
      board_.woken[self_] = false;
      read.swap(board_.reads[self_]);
    }
    for (const RunPtr& run : read) {
      if (--run->unreleased == 0) user_->was_read(run);
    }
  }

  bool is_in_place(unsigned /*worker*/) const override { return true; }
  void wake() override {
    {
      const std::lock_guard lock(board_.mutex);
      board_.woken[self_] = true;
    }
    board_.changed.notify_all();
  }
  comm::Waiting waiting() const override { return {}; }
  void abort(const std::string& why) override {
    {
      const std::lock_guard lock(board_.mutex);
      if (!std::exchange(is_aborted_, true)) why_ = why;
    }
    wake();
  }
  void lose(unsigned /*worker*/, const std::string& why) override {
    abort(why);
  }

 private:
  Board& board_;
  unsigned self_;
  Device& device_;
  User* user_ = nullptr;
  bool is_aborted_ = false;  // the board's mutex guards this and why_
  std::string why_;
};

}  // namespace gt::exec
