#include "route/result_order.h"

#include <algorithm>

#include "stream/line.h"

namespace gt {

void ResultOrder::owe(uint32_t worker, std::string_view heads, uint64_t bytes,
                      uint64_t seq) {
  if (runs_.empty() || runs_.back().worker != worker ||
      runs_.back().heads.size() > kLongRun) {
    runs_.emplace_back().worker = worker;
  }
  Run& run = runs_.back();
  run.seqs.emplace_back(run.heads.size(), seq);
  run.heads += heads;
  run.bytes += bytes;
  bytes_ += bytes;
  std::deque<Run*>& asked = workers_[worker].asked;
  if (asked.empty() || asked.back() != &run) asked.push_back(&run);
}

void ResultOrder::add(std::string_view line) {
  if (runs_.empty() || runs_.back().worker != kNobody) runs_.emplace_back();
  runs_.back().heads.append(line).append("\n");
  runs_.back().bytes += line.size();
  bytes_ += line.size();
}

Status ResultOrder::take(uint32_t worker, std::string_view bytes) {
  Worker& w = workers_[worker];
  while (!bytes.empty()) {
    if (!w.check.is_open()) {
      if (w.asked.empty()) return Error{"sent more results than asked"};
      const Run& run = *w.asked.front();
      const size_t end = run.heads.find('\n', run.come);
      w.check.begin(
          std::string_view(run.heads).substr(run.come, end - run.come));
    }
    const auto size = w.check.take(bytes);
    if (!size.ok()) return size.error();
    w.text.append(bytes.substr(0, size.value()));
    bytes.remove_prefix(size.value());
    if (!w.check.is_open()) note_line(w);
  }
  return ok_status();
}

// A line has come whole.
void ResultOrder::note_line(Worker& worker) {
  Run& run = *worker.asked.front();
  run.come = run.heads.find('\n', run.come) + 1;
  worker.has_failed = worker.has_failed || worker.check.has_failed();
  if (run.come == run.heads.size()) worker.asked.pop_front();
}

// Of the print that the next line is for.
uint64_t ResultOrder::seq_of(Run& run) {
  while (run.seq_at + 1 < run.seqs.size() &&
         run.seqs[run.seq_at + 1].first <= run.begin) {
    ++run.seq_at;
  }
  return run.seqs[run.seq_at].second;
}

// True: the run is over.
bool ResultOrder::emit_run(Run& run, std::string& out, size_t most,
                           const Sink& sink) {
  if (run.worker == kNobody) {
    out.append(run.heads, run.begin);
    while (sink && run.begin < run.heads.size()) {
      const size_t end = run.heads.find('\n', run.begin) + 1;
      sink(kNobody, 0,
           std::string_view(run.heads).substr(run.begin, end - run.begin));
      run.begin = end;
    }
    return true;
  }
  Worker& w = workers_[static_cast<size_t>(run.worker)];
  while (run.begin < run.come && out.size() < most) {
    const size_t end = w.text.find('\n', w.begin);
    const size_t size = end + 1 - w.begin;
    out.append(w.text, w.begin, size);
    if (sink) {
      sink(run.worker, seq_of(run),
           std::string_view(w.text).substr(w.begin, size));
    }
    w.begin = end + 1;
    run.begin = run.heads.find('\n', run.begin) + 1;
  }
  if (w.begin == w.text.size()) {
    w.text.clear();
    if (w.text.capacity() > (size_t{1} << 20)) w.text.shrink_to_fit();
    w.begin = 0;
  } else if (w.begin > w.text.size() / 2) {
    w.text.erase(0, w.begin);
    w.begin = 0;
  }
  return run.begin == run.heads.size();
}

void ResultOrder::emit(std::string& out, size_t most, const Sink& sink) {
  while (!runs_.empty() && out.size() < most) {
    if (!emit_run(runs_.front(), out, most, sink)) return;
    bytes_ -= runs_.front().bytes;
    runs_.pop_front();
  }
}

void ResultOrder::fail(const std::string& why) {
  const std::string failure = " = fail " + quote(why) + "\n";
  std::string done;
  emit(done, SIZE_MAX);
  for (Run& run : runs_) {
    if (run.worker == kNobody) {
      done.append(run.heads, run.begin);
      continue;
    }
    // What came before its turn is still good.
    emit_run(run, done, SIZE_MAX, {});
    while (run.begin < run.heads.size()) {
      const size_t end = run.heads.find('\n', run.begin);
      const std::string_view head =
          std::string_view(run.heads).substr(run.begin, end - run.begin);
      done.append(label_of(head)).append(failure);
      run.begin = end + 1;
    }
  }
  runs_.clear();
  bytes_ = 0;
  for (Worker& worker : workers_) worker = Worker{};
  if (!done.empty()) add(std::string_view(done).substr(0, done.size() - 1));
}

int64_t ResultOrder::waits_for() const {
  return runs_.empty() ? kNobody : runs_.front().worker;
}

}  // namespace gt
