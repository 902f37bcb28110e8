#include "route/result_order.h"

#include <algorithm>

#include "stream/line.h"

namespace gt {
namespace {

uint64_t lines_in(std::string_view text) {
  return static_cast<uint64_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

void ResultOrder::owe(uint32_t worker, std::string_view names, uint64_t bytes,
                      uint64_t seq) {
  if (runs_.empty() || runs_.back().worker != worker ||
      runs_.back().names.size() > kLongRun) {
    runs_.emplace_back().worker = worker;
  }
  runs_.back().seqs.emplace_back(runs_.back().names.size(), seq);
  runs_.back().names += names;
  runs_.back().bytes += bytes;
  bytes_ += bytes;
  workers_[worker].owed += lines_in(names);
}

void ResultOrder::add(std::string_view line) {
  if (runs_.empty() || runs_.back().worker != kNobody) runs_.emplace_back();
  runs_.back().names.append(line).append("\n");
  runs_.back().bytes += line.size();
  bytes_ += line.size();
}

bool ResultOrder::take(uint32_t worker, std::string_view bytes) {
  Worker& w = workers_[worker];
  const uint64_t lines = lines_in(bytes);
  if (lines > w.owed || (lines == w.owed && !bytes.ends_with('\n'))) {
    return bytes.empty();
  }
  w.owed -= lines;
  w.text += bytes;
  return true;
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
    out.append(run.names, run.begin);
    while (sink && run.begin < run.names.size()) {
      const size_t end = run.names.find('\n', run.begin) + 1;
      sink(kNobody, 0,
           std::string_view(run.names).substr(run.begin, end - run.begin));
      run.begin = end;
    }
    return true;
  }
  Worker& w = workers_[static_cast<size_t>(run.worker)];
  while (run.begin < run.names.size() && out.size() < most) {
    const size_t end = w.text.find('\n', w.begin);
    if (end == std::string::npos) break;
    const size_t size = end + 1 - w.begin;
    out.append(w.text, w.begin, size);
    if (sink) {
      sink(run.worker, seq_of(run),
           std::string_view(w.text).substr(w.begin, size));
    }
    w.begin = end + 1;
    run.begin = run.names.find('\n', run.begin) + 1;
  }
  if (w.begin == w.text.size()) {
    w.text.clear();
    if (w.text.capacity() > (size_t{1} << 20)) w.text.shrink_to_fit();
    w.begin = 0;
  } else if (w.begin > w.text.size() / 2) {
    w.text.erase(0, w.begin);
    w.begin = 0;
  }
  return run.begin == run.names.size();
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
      done.append(run.names, run.begin);
      continue;
    }
    // What came before its turn is still good.
    emit_run(run, done, SIZE_MAX, {});
    while (run.begin < run.names.size()) {
      const size_t end = run.names.find('\n', run.begin);
      done.append(run.names, run.begin, end - run.begin).append(failure);
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
