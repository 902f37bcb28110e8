#include "log/steps.h"

#include <algorithm>

namespace gt::log {
namespace {

constexpr uint32_t kNobody = Timeline::kNobody;

// A shorter gap in which nothing was missing is the queue's own work.
constexpr uint64_t kMinGap = 10'000;  // nanoseconds

}  // namespace

Steps::Steps(const Timeline& timeline) : timeline_(timeline) {
  find_runs();
  if (timeline.is_whole()) find_waits();
}

std::string Steps::label(Pass pass, uint32_t mb) const {
  if (runs_.empty()) return "";
  std::string out = word_of(pass);
  if (pass != Pass::kNone && mb != kNobody) out += " " + timeline_.word(mb);
  return out;
}

std::string Steps::brief(const Run& run) const {
  std::string out(1, static_cast<char>(word_of(run.pass)[0] - 'a' + 'A'));
  return run.mb == kNobody ? out : out + timeline_.word(run.mb);
}

std::string Steps::label(const Wait& wait) const {
  if (wait.maker == kNobody) return "waits for its next line";
  return "waits for worker " + timeline_.lanes()[wait.maker].rank;
}

// A run goes on over events of its pass that are of no microbatch, if it comes
// back to its own.
void Steps::find_runs() {
  const auto& events = timeline_.events();
  const bool has_any = std::ranges::any_of(events, [](const auto& event) {
    return event.mb != kNobody || event.pass == Pass::kBackward ||
           event.pass == Pass::kWeight;
  });
  if (!has_any) return;
  for (uint32_t lane = 0; lane < timeline_.lanes().size(); ++lane) {
    const std::vector<uint32_t>& all = timeline_.lanes()[lane].events;
    for (size_t i = 0; i < all.size();) {
      const Timeline::Event& first = events[all[i++]];
      if (first.pass == Pass::kNone) continue;
      Run run{first.start, first.end, lane, first.mb, first.pass};
      for (size_t k = i; k < all.size(); ++k) {
        const Timeline::Event& next = events[all[k]];
        if (next.pass == Pass::kNone) continue;
        if (next.pass != run.pass) break;
        if (next.mb == run.mb) {
          run.end = next.end;
          i = k + 1;
        } else if (next.mb != kNobody) {
          break;
        }
      }
      runs_.push_back(run);
    }
  }
}

// What an event waited for is what made the last of what it reads. If that is
// the worker's own exchange, the one behind it is on another worker.
void Steps::find_waits() {
  const auto& events = timeline_.events();
  std::vector<uint32_t> last(events.size(), kNobody);
  std::vector<uint32_t> foreign(events.size(), kNobody);
  const auto take = [&events](uint32_t& to, uint32_t from) {
    if (to == kNobody || events[from].end > events[to].end) to = from;
  };
  for (const Timeline::Flow& flow : timeline_.flows()) {
    take(last[flow.to], flow.from);
    if (rank_of(flow.from) != rank_of(flow.to)) {
      take(foreign[flow.to], flow.from);
    }
  }
  for (uint32_t lane = 0; lane < timeline_.lanes().size(); ++lane) {
    const Timeline::Lane& of = timeline_.lanes()[lane];
    // In a trace of one process all ranks share a queue.
    if (!timeline_.has_workers() && of.rank != "-") continue;
    if (of.queue != "compute" && of.queue != "gpu") continue;
    uint64_t since = timeline_.begin();
    for (const uint32_t event : of.events) {
      const uint32_t maker = last[event];
      add_wait(lane, since, event, maker,
               maker == kNobody ? kNobody : foreign[maker]);
      since = events[event].end;
    }
  }
}

// Adds what a lane waited for since a time until an event began. `maker` made
// the last of what the event reads, `foreign` what that one read of others.
void Steps::add_wait(uint32_t lane, uint64_t since, uint32_t event,
                     uint32_t maker, uint32_t foreign) {
  const auto& events = timeline_.events();
  const uint64_t until = events[event].start;
  if (until <= since) return;
  uint64_t there = since;  // when all that the event reads was there
  if (maker != kNobody && events[maker].end > since) {
    const std::string& own = timeline_.lanes()[lane].rank;
    const uint32_t from = rank_of(maker) != own ? maker : foreign;
    if (from != kNobody && rank_of(from) != own) {
      there = std::min(events[maker].end, until);
      waits_.push_back({since, there, lane, events[from].lane, event});
    }
  }
  if (until - there >= kMinGap) {
    waits_.push_back({there, until, lane, kNobody, event});
  }
}

}  // namespace gt::log
