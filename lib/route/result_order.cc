#include "route/result_order.h"

#include <algorithm>

#include "stream/line.h"

namespace gt::route {
namespace {

// Returns the seq of the print that the next outgoing line belongs to; 0 if the
// line is not from a worker.
uint64_t seq_of(ResultRun& run) {
  if (run.seqs.empty()) return 0;
  while (run.seq_at + 1 < run.seqs.size() &&
         run.seqs[run.seq_at + 1].first <= run.begin) {
    ++run.seq_at;
  }
  return run.seqs[run.seq_at].second;
}

// Moves lines that came whole to `out`, until it has `most` bytes.
void emit_run(ResultRun& run, std::string& out, size_t most,
              const ResultOrder::Sink& sink) {
  for (; run.whole > 0 && out.size() < most; --run.whole) {
    const size_t size = run.text.find('\n', run.gone) + 1 - run.gone;
    out.append(run.text, run.gone, size);
    if (sink) {
      sink(run.worker, seq_of(run),
           std::string_view(run.text).substr(run.gone, size));
    }
    run.gone += size;
    if (run.worker != ResultRun::kNobody) {
      run.begin = run.heads.find('\n', run.begin) + 1;
    }
  }
  if (run.gone <= run.text.size() / 2) return;
  run.text.erase(0, std::exchange(run.gone, 0));
  if (run.text.capacity() > (size_t{1} << 20)) run.text.shrink_to_fit();
}

size_t count_lines(std::string_view text) {
  return static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
}

// Returns a line for each head, which says why its value does not come.
std::string failures_of(std::string_view heads, const std::string& why) {
  const std::string failure = " = fail " + quote(why) + "\n";
  std::string out;
  while (!heads.empty()) {
    const size_t end = heads.find('\n');
    out.append(label_of(heads.substr(0, end))).append(failure);
    heads.remove_prefix(end + 1);
  }
  return out;
}

// Turns the lines that have not come whole into failures, so that the run is
// from no worker any more.
void fail_rest(ResultRun& run, const std::string& why) {
  if (run.worker == ResultRun::kNobody) return;
  ResultRun failed;
  emit_run(run, failed.text, SIZE_MAX, {});
  failed.text +=
      failures_of(std::string_view(run.heads).substr(run.begin), why);
  failed.whole = count_lines(failed.text);
  failed.bytes = run.bytes;
  run = std::move(failed);
}

}  // namespace

// ---- sources ----------------------------------------------------------------

void ResultSources::ask(ResultRun& run) {
  auto& asked = workers_[static_cast<size_t>(run.worker)].asked;
  if (asked.empty() || asked.back() != &run) asked.push_back(&run);
}

bool ResultSources::goes_on(const ResultRun& run) const {
  if (run.worker == ResultRun::kNobody) return true;
  const auto& asked = workers_[static_cast<size_t>(run.worker)].asked;
  return asked.empty() || asked.back() == &run;
}

void ResultSources::forget() {
  for (Worker& worker : workers_) worker = Worker{};
}

Status ResultSources::take(uint32_t worker, std::string_view bytes) {
  Worker& w = workers_[worker];
  while (!bytes.empty()) {
    if (w.asked.empty()) return Error{"sent more results than asked"};
    ResultRun& run = *w.asked.front();
    if (!w.check.is_open()) {
      const size_t end = run.heads.find('\n', run.come);
      w.check.begin(
          std::string_view(run.heads).substr(run.come, end - run.come));
    }
    const auto size = w.check.take(bytes);
    if (!size.ok()) return size.error();
    run.text.append(bytes.substr(0, size.value()));
    bytes.remove_prefix(size.value());
    if (!w.check.is_open()) note_line(w);
  }
  return ok_status();
}

// The line that the worker was to send next has come whole.
void ResultSources::note_line(Worker& worker) {
  ResultRun& run = *worker.asked.front();
  ++run.whole;
  run.come = run.heads.find('\n', run.come) + 1;
  worker.has_failed = worker.has_failed || worker.check.has_failed();
  if (run.come == run.heads.size()) worker.asked.pop_front();
}

// ---- order ------------------------------------------------------------------

ResultRun& ResultOrder::run_of(int64_t worker) {
  if (runs_.empty() || runs_.back().worker != worker ||
      runs_.back().after.has_value() || runs_.back().heads.size() > kLongRun ||
      !sources_.goes_on(runs_.back())) {
    runs_.emplace_back().worker = worker;
  }
  return runs_.back();
}

void ResultOrder::owe(uint32_t worker, std::string_view heads, uint64_t bytes,
                      uint64_t seq) {
  if (const std::string& why = sources_.loss_of(worker); !why.empty()) {
    return add_lines(failures_of(heads, why));
  }
  ResultRun& run = run_of(worker);
  run.seqs.emplace_back(run.heads.size(), seq);
  run.heads += heads;
  run.bytes += bytes;
  bytes_ += bytes;
  sources_.ask(run);
}

void ResultOrder::add(std::string_view line) {
  add_lines(std::string(line) + "\n");
}

void ResultOrder::add_lines(std::string_view lines) {
  ResultRun& run = run_of(ResultRun::kNobody);
  run.text += lines;
  run.whole += count_lines(lines);
  run.bytes += lines.size();
  bytes_ += lines.size();
}

void ResultOrder::add_after(std::string_view line,
                            std::vector<Awaited> awaited) {
  ResultRun& run = runs_.emplace_back();
  run.after = std::move(awaited);
  run.text.append(line).append("\n");
  run.whole = 1;
  run.bytes = run.text.size();
  bytes_ += run.bytes;
}

void ResultOrder::emit(std::string& out, size_t most, const IsDone& is_done,
                       const Sink& sink) {
  while (!runs_.empty() && out.size() < most) {
    ResultRun& run = runs_.front();
    if (run.after && !std::ranges::all_of(*run.after, is_done)) return;
    emit_run(run, out, most, sink);
    if (!runs_.front().is_over()) return;
    bytes_ -= runs_.front().bytes;
    runs_.pop_front();
  }
}

void ResultOrder::fail(const std::string& why) {
  for (ResultRun& run : runs_) {
    fail_rest(run, why);
    if (!run.after.has_value()) continue;
    bytes_ -= run.bytes;
    run = ResultRun();  // it has nothing that could go out
  }
}

void ResultOrder::fail(uint32_t worker) {
  for (ResultRun& run : runs_) {
    if (run.worker == worker) fail_rest(run, sources_.loss_of(worker));
  }
}

int64_t ResultOrder::waits_for() const {
  return runs_.empty() ? ResultRun::kNobody : runs_.front().worker;
}

}  // namespace gt::route
