#include "machine.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace gt::fake {
namespace {

constexpr size_t kMostWaiting = 2000;  // the most of one stream

uint64_t number_of(const char* variable) {
  const char* text = std::getenv(variable);
  return text == nullptr ? 0 : std::strtoull(text, nullptr, 10);
}

}  // namespace

Machine& Machine::instance() {
  static Machine machine;
  return machine;
}

Machine::Machine()
    : random_(static_cast<unsigned>(number_of("GT_FAKE_SEED"))),
      fail_from_(number_of("GT_FAKE_FAIL")),
      lose_(number_of("GT_FAKE_LOSE")),
      is_busy_(number_of("GT_FAKE_BUSY") != 0),
      pace_(number_of("GT_FAKE_PACE")) {
  const char* text = std::getenv("GT_FAKE_FAIL");
  if (const char* speed = std::getenv("GT_FAKE_SPEED")) {
    char* end = nullptr;
    speed_.bytes = std::strtod(speed, &end);
    speed_.flops = *end == ':' ? std::strtod(end + 1, nullptr) : 0;
    if (!(speed_.bytes > 0) || !(speed_.flops >= 0)) {
      wrong("GT_FAKE_SPEED is no speed");
    }
  }
  fail_all_ = text != nullptr && std::string_view(text).ends_with('+');
}

void Machine::wait(Stream* stream) {
  for (const Work& work : stream->work) {
    if (!work.is_kernel) continue;
    ++waits_;
    break;
  }
  drive([stream] { return stream->work.empty(); });
}

void Machine::wait(Event* event) {
  const auto is_reached = [event] { return event->done >= event->recorded; };
  if (!is_reached()) ++waits_;
  drive(is_reached);
}

void Machine::finish() {
  drive([this] {
    return std::all_of(streams.begin(), streams.end(),
                       [](const Stream* one) { return one->work.empty(); });
  });
}

void Machine::note_copy(uint64_t to, size_t bytes) {
  if (!memory.is_foreign(to)) return;
  ++copies_;
  copied_bytes_ += bytes;
  const auto is_meant = [this](const char* variable) {
    const char* text = std::getenv(variable);
    return text != nullptr &&
           text == std::to_string(device) + ":" + std::to_string(copies_);
  };
  if (is_meant("GT_FAKE_COPY_HANG")) is_late = true;
  if (is_meant("GT_FAKE_COPY_DIE")) (void)std::raise(SIGKILL);
}

Machine::~Machine() {
  const auto number = [](uint64_t n) {
    return static_cast<unsigned long long>(n);
  };
  if (const char* path = std::getenv("GT_FAKE_WAITS")) {
    if (std::FILE* out = std::fopen(path, "a")) {
      (void)std::fprintf(out, "%llu\n", number(waits_));
      (void)std::fclose(out);
    }
  }
  if (const char* path = std::getenv("GT_FAKE_COPIES")) {
    if (std::FILE* out = std::fopen(path, "a")) {
      (void)std::fprintf(out, "GPU %d: %llu copies, %llu bytes\n", device,
                         number(copies_), number(copied_bytes_));
      (void)std::fclose(out);
    }
  }
  if (const char* path = std::getenv("GT_FAKE_LAUNCHES")) {
    if (std::FILE* out = std::fopen(path, "a")) {
      (void)std::fprintf(out,
                         "launches %llu graphs %llu made %llu updated %llu\n",
                         number(launches), number(graph_launches),
                         number(graphs_made), number(graphs_updated));
      (void)std::fclose(out);
    }
  }
  const char* file = std::getenv("GT_FAKE_REPORT");
  if (file == nullptr) return;
  if (std::FILE* out = std::fopen(file, "a")) {
    (void)std::fprintf(
        out,
        "calls %llu kept: %zu blocks, %zu streams, %zu events, %zu pinned, "
        "%d contexts, %d modules, %d programs, %d descriptions, %zu graphs\n",
        number(calls_), memory.blocks(), streams.size(), events.size(),
        pinned.size(), contexts, modules, programs, descriptions,
        graphs.size());
    (void)std::fclose(out);
  }
}

void Machine::note_device(int number) {
  device = number;
  const char* file = std::getenv("GT_FAKE_CHOSEN");
  if (file == nullptr) return;
  if (std::FILE* out = std::fopen(file, "a")) {
    (void)std::fprintf(out, "%d\n", device);
    (void)std::fclose(out);
  }
}

bool Machine::fails() {
  ++calls_;
  return fail_from_ != 0 &&
         (calls_ == fail_from_ || (fail_all_ && calls_ > fail_from_));
}

uint64_t Machine::clock() {
  constexpr uint64_t kBehind = 1'000'000'007;
  const auto at = std::chrono::steady_clock::now().time_since_epoch();
  const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(at);
  return static_cast<uint64_t>(ns.count()) - kBehind;
}

void Machine::pace() const {
  if (pace_ != 0) std::this_thread::sleep_for(std::chrono::microseconds(pace_));
}

uint64_t Machine::cost(uint64_t bytes, double flops) const {
  constexpr double kLaunch = 2000;
  if (!keeps_time()) return 0;
  double takes = static_cast<double>(bytes) / speed_.bytes;
  if (speed_.flops != 0) takes = std::max(takes, flops / speed_.flops);
  return static_cast<uint64_t>(kLaunch + takes);
}

void Machine::give(Stream* stream, Work work) {
  if (!streams.contains(stream)) wrong("a stream is used that is not there");
  if (stream->captured != nullptr) {
    stream->captured->nodes.push_back(std::move(work));
    return;
  }
  if (keeps_time() && stream->work.empty()) {
    stream->busy_until = std::max(stream->busy_until, clock());
  }
  stream->work.push_back(std::move(work));
  // Now and then some of the work is done at once.
  if (random_() % 8 == 0) do_some();
  drive([stream] { return stream->work.size() < kMostWaiting; });
}

void Machine::do_some() {
  if (is_busy_) return;
  if (keeps_time()) {
    while (do_due() == Found::kWork) {
    }
    return;
  }
  for (unsigned n = random_() % 16; n > 0; --n) {
    if (do_one() != Found::kWork) break;
  }
}

bool Machine::is_reached(const Work& work) const {
  return work.event == nullptr || !events.contains(work.event) ||
         work.event->done >= work.reached;
}

// Finds work that is done by now on streams that keep time.
Machine::Found Machine::do_due() {
  const uint64_t now = clock();
  Found otherwise = Found::kNone;
  for (Stream* stream : streams) {
    if (is_lost || stream->work.empty()) continue;
    Work& first = stream->work.front();
    if (!is_reached(first)) continue;
    otherwise = Found::kOthersWork;  // or work that waits for the clock
    uint64_t done = stream->busy_until;
    if (first.event != nullptr && events.contains(first.event)) {
      done = std::max(done, first.event->time);
    }
    done += first.takes;
    if (done > now || (first.attempt && !first.attempt())) continue;
    stream->busy_until = done;
    const Work work = std::move(first);
    stream->work.pop_front();
    if (work.run) work.run();
    return Found::kWork;
  }
  return otherwise;
}

Machine::Found Machine::do_one() {
  if (keeps_time()) return do_due();
  if (is_lost) return Found::kNone;
  std::vector<Stream*> ready;
  for (Stream* stream : streams) {
    if (stream->work.empty()) continue;
    if (is_reached(stream->work.front())) ready.push_back(stream);
  }
  const Found otherwise = ready.empty() ? Found::kNone : Found::kOthersWork;
  std::shuffle(ready.begin(), ready.end(), random_);
  for (Stream* stream : ready) {
    if (stream->work.front().attempt && !stream->work.front().attempt()) {
      continue;
    }
    const Work work = std::move(stream->work.front());
    stream->work.pop_front();
    if (work.run) work.run();
    return Found::kWork;
  }
  return otherwise;
}

void Machine::drive(const std::function<bool()>& until) {
  while (!is_lost && !until()) {
    const Found found = do_one();
    if (is_lost || found == Found::kWork) continue;
    if (found == Found::kNone) wrong("streams wait for each other");
    mutex.unlock();  // other threads may have to act first
    std::this_thread::sleep_for(
        std::chrono::microseconds(keeps_time() ? 5 : 200));
    mutex.lock();
  }
}

bool Machine::is_pinned(const void* data, size_t bytes) const {
  const auto* at = static_cast<const char*>(data);
  auto it = pinned.upper_bound(at);
  if (it == pinned.begin()) return false;
  --it;
  return at + bytes <= it->first + it->second;
}

}  // namespace gt::fake

using gt::fake::Machine;

extern "C" {

bool gt_fake_fails() {
  const std::lock_guard lock(Machine::instance().mutex);
  return Machine::instance().fails();
}
void gt_fake_give(void* stream, void (*run)(void*), void* data,
                  void (*drop)(void*), uint64_t bytes, double flops) {
  Machine& m = Machine::instance();
  const std::lock_guard lock(m.mutex);
  auto* to = static_cast<gt::fake::Stream*>(stream);
  if (to->captured == nullptr) ++m.launches;
  const std::shared_ptr<void> owned(data, drop);
  gt::fake::Work work;
  work.takes = m.cost(bytes, flops);
  work.run = [run, owned, takes = work.takes] {
    if (takes == 0) run(owned.get());
  };
  m.give(to, std::move(work));
}
void gt_fake_await(void* stream, bool (*attempt)(void*), void* data) {
  const std::lock_guard lock(Machine::instance().mutex);
  gt::fake::Work work;
  work.attempt = [attempt, data] { return attempt(data); };
  Machine::instance().give(static_cast<gt::fake::Stream*>(stream),
                           std::move(work));
}
int gt_fake_device() { return Machine::instance().device; }
void* gt_fake_at(uint64_t address, size_t bytes) {
  return Machine::instance().memory.at(address, bytes);
}
void gt_fake_check(uint64_t address) {
  Machine::instance().memory.check(address);
}
void gt_fake_count(int programs, int descriptions) {
  const std::lock_guard lock(Machine::instance().mutex);
  Machine::instance().programs += programs;
  Machine::instance().descriptions += descriptions;
}

}  // extern "C"
