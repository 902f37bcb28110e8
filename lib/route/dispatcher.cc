// The fast path: a line that was seen before, to the bodies of workers.
#include "route/dispatcher.h"

#include <algorithm>

#include "base/hash.h"

namespace gt {
namespace {

using Action = Route::Action;

// What a copy between two workers takes, in nanoseconds: waking the reader, and
// its bytes.
constexpr uint64_t kCopyCost = 50'000;
constexpr uint64_t kCopyBytesPerNano = 2;

uint64_t copy_cost(uint64_t bytes) {
  return kCopyCost + bytes / kCopyBytesPerNano;
}

bool has_same(const Home& a, const Home& b) {
  return a.holders.size() == b.holders.size() &&
         std::all_of(a.holders.begin(), a.holders.end(),
                     [&b](uint32_t worker) { return b.is_on(worker); });
}

std::string_view without_digits(std::string_view text) {
  while (!text.empty() && text.back() >= '0' && text.back() <= '9') {
    text.remove_suffix(1);
  }
  return text;
}

}  // namespace

Dispatcher::Dispatcher(const DispatcherOptions& options, Sink messages,
                       IssueSink issues)
    : messages_(std::move(messages)),
      issues_(std::move(issues)),
      fail_fast_(options.fail_fast),
      caches_(options.caches),
      told_file_(options.workers),
      loads_(options.workers),
      paths_(options.workers),
      ranks_(options.workers),
      results_(options.workers),
      outbox_(options.workers),
      routes_(options.caches ? kRouteSets : 1),
      seen_(options.caches) {
  for (uint32_t w = 0; w < options.workers; ++w) everyone_.push_back(w);
}

void Dispatcher::set_file(std::string_view name) {
  file_ = name;
  ++file_number_;
}

void Dispatcher::line(std::string_view text, uint64_t number) {
  if (text.empty()) return;
  number_ = number;
  const NotedText parts = split_notes(text);
  if (parts.text.empty()) {
    if (issues_ && !parts.notes.empty()) {
      const std::vector<uint32_t> nobody;
      issues_(
          {next_seq_ - 1, number, parts.notes, &nobody, Issue::Kind::kComment});
    }
    if (!parts.notes.empty() &&
        marks_.take(parts.notes) == Marks::Mark::kBadVersion) {
      reject(text, "a stream of this version cannot be read; gt 1 is known",
             number);
    }
    return;
  }
  ++lines_;
  const uint64_t hash = caches_ ? hash_bytes(parts.text) : 0;
  if (caches_ && parts.is_clean) {
    Route* route = routes_.find(hash, parts.text);
    if (route != nullptr && is_valid(*route) &&
        check_notes(*route, parts.notes)) {
      return act(*route, parts);
    }
  }
  decode(text, parts, hash);
}

bool Dispatcher::is_valid(const Route& route) const {
  if (route.is_placed && route.mesh_version != meshes_.version()) return false;
  for (const RouteOperand& operand : route.operands) {
    if (homes_[operand.id].stamp != operand.stamp) return false;
  }
  for (const RouteResult& result : route.results) {
    if (homes_[result.id].stamp.generation != result.generation) return false;
  }
  return true;
}

// The notes that the route was last seen with, or the same but for a number at
// their end, as #at=FILE:LINE moves; others must be well-formed, and not ours.
bool Dispatcher::check_notes(Route& route, std::string_view notes) {
  if (notes.empty() || notes == route.notes) return true;
  const std::string_view begin = without_digits(notes);
  const std::string_view known = without_digits(route.notes);
  const bool moved = begin == known && begin.size() < notes.size() &&
                     known.size() < route.notes.size();
  if (!moved) {
    text_.assign("x ").append(notes);
    if (!parse_line(text_, line_).ok() || has_our_notes()) return false;
  }
  route.notes = notes;
  return true;
}

void Dispatcher::act(const Route& route, const NotedText& parts) {
  if (route.is_placed) return act_placed(route, parts);
  const char* end = parts.notes.empty()
                        ? parts.text.data() + parts.text.size()
                        : parts.notes.data() + parts.notes.size();
  const std::string_view text(parts.text.data(),
                              static_cast<size_t>(end - parts.text.data()));
  switch (route.action) {
    case Action::kRun:
    case Action::kFail:
      return run(route, text);
    case Action::kOutput:
      return output(route, text);
    case Action::kFree:
      return free(route, parts);
  }
}

// ---- unplaced lines ---------------------------------------------------------

void Dispatcher::run(const Route& route, std::string_view text) {
  const uint32_t worker = place(route);
  for (const RouteOperand& operand : route.operands) bring(operand, worker);
  here_.assign(1, worker);
  fence(route.paths, here_);
  issue(here_, text);
  loads_.add(worker, route.cost);
  bind_on(worker, route);
}

// A chain stays where its data is: nobody else could start it before the last
// of its operands is there, since that is what is asked of its worker last.
uint32_t Dispatcher::place(const Route& route) const {
  if (loads_.size() == 1) return 0;
  if (route.operands.empty()) return loads_.least();
  const uint32_t worker = homes_[route.operands[0].id].holders[0];
  uint64_t start = 0;
  for (const RouteOperand& operand : route.operands) {
    const Home& home = homes_[operand.id];
    if (home.holders[0] != worker) return choose(route);
    start = std::max(start, loads_.remaining(worker, home.ready));
  }
  return loads_.outstanding(worker) <= start + kCopyCost ? worker
                                                         : choose(route);
}

// When the worker could have done the line, from now on.
uint64_t Dispatcher::finish_on(uint32_t worker, const Route& route) const {
  uint64_t start = loads_.outstanding(worker);
  for (const RouteOperand& operand : route.operands) {
    const Home& home = homes_[operand.id];
    if (home.is_on(worker)) continue;
    const uint64_t made = loads_.remaining(home.holders[0], home.ready);
    start = std::max(start, made + copy_cost(operand.bytes));
  }
  return start + route.cost;
}

// Of those that have an operand, and the one that has least to do, the worker
// that is done first.
uint32_t Dispatcher::choose(const Route& route) const {
  uint32_t best = loads_.least();
  uint64_t best_finish = finish_on(best, route);
  for (const RouteOperand& operand : route.operands) {
    for (const uint32_t worker : homes_[operand.id].holders) {
      if (worker == best) continue;
      const uint64_t finish = finish_on(worker, route);
      if (finish > best_finish) continue;  // of two alike, where data is
      best = worker;
      best_finish = finish;
    }
  }
  return best;
}

// Copies a value to the worker, if it lacks it.
void Dispatcher::bring(const RouteOperand& operand, uint32_t worker) {
  Home& home = homes_[operand.id];
  if (home.is_on(worker)) return;
  const uint32_t from = home.holders[0];
  const std::string_view name = homes_.name_of(operand.id);
  text_.assign(name);
  text_.append(" = copy ").append(name);
  text_.append(" #from=").append(std::to_string(from));
  text_.append(" #to=").append(std::to_string(worker));
  text_.append(" #pieces=").append(to_string(types_[home.stamp.type]));
  issue({from, worker}, text_);
  loads_.add(worker, operand.bytes / kCopyBytesPerNano);
  loads_.hold(worker, operand.bytes);
  home.holders.push_back(worker);
}

// The values that a register had go from the counts of their workers.
void Dispatcher::release_on(const Home& home) {
  if (!home.is_live() || home.has_failed()) return;
  const uint64_t bytes = types_[home.stamp.type].bytes();
  for (const uint32_t worker : home.holders) loads_.let_go(worker, bytes);
}

void Dispatcher::bind_on(uint32_t worker, const Route& route) {
  for (const RouteResult& result : route.results) {
    Home& home = homes_[result.id];
    const bool stays = home.holders.size() == 1 && home.holders[0] == worker;
    if (!stays || home.stamp.type != result.type) {
      release_on(home);
      stale_.clear();
      for (const uint32_t holder : home.holders) {
        if (holder != worker) stale_.push_back(holder);
      }
      home.holders.clear();
      home.holders.push_back(worker);
      loads_.hold(worker, result.bytes);
    }
    if (route.action == Action::kFail) {
      homes_.fail(result.id, route.failure, types_);
    } else {
      homes_.bind(result.id, result.type, types_);
    }
    home.ready = loads_.issued(worker);
    if (stays || stale_.empty()) continue;
    // Elsewhere lie copies of what the name stood for. In the log this is no
    // instruction: replayed by one worker it would free the new value.
    text_.assign("free ").append(homes_.name_of(result.id));
    issue(stale_, text_, Issue::Kind::kControl);
  }
}

// print and save, where the value is.
void Dispatcher::output(const Route& route, std::string_view text) {
  here_.assign(1, homes_[route.operands[0].id].holders[0]);
  fence(route.paths, here_);
  issue(here_, text);
  loads_.add(here_[0], route.cost);
  owe(route, &here_);
}

void Dispatcher::free(const Route& route, const NotedText& parts) {
  const Home& first = homes_[route.operands[0].id];
  const bool alike = std::all_of(
      route.operands.begin(), route.operands.end(),
      [&](const RouteOperand& o) { return has_same(homes_[o.id], first); });
  for (const RouteOperand& operand : route.operands) {
    const Home& home = homes_[operand.id];
    if (alike) {
      text_.assign(parts.text);
    } else {
      text_.assign("free ").append(homes_.name_of(operand.id));
    }
    if (!parts.notes.empty()) text_.append(" ").append(parts.notes);
    here_.assign(home.holders.begin(), home.holders.end());
    std::sort(here_.begin(), here_.end());
    if (!alike || &operand == route.operands.data()) issue(here_, text_);
    release_on(home);
    homes_.release(operand.id);
  }
}

// ---- placed lines -----------------------------------------------------------

void Dispatcher::act_placed(const Route& route, const NotedText& parts) {
  text_.assign(parts.text);
  text_.append(route.pieces);
  if (!parts.notes.empty()) text_.append(" ").append(parts.notes);
  fence(route.paths, route.workers);
  issue(route.workers, text_);
  if (loads_.size() > 1) {
    for (const uint32_t w : route.workers) loads_.add(w, route.cost);
  }
  if (route.action == Action::kOutput) return owe(route, nullptr);
  if (route.action == Action::kFree) {
    for (const RouteOperand& o : route.operands) homes_.release(o.id);
    return;
  }
  for (const RouteResult& result : route.results) homes_.keep(result.id);
  for (const RouteResult& result : route.results) {
    if (route.action == Action::kFail) {
      homes_.fail(result.id, route.failure, types_);
    } else {
      homes_.bind(result.id, result.type, types_);
      if (route.failure != nullptr) {
        homes_.note_failure(result.id, route.failure);
      }
    }
  }
}

// ---- what all lines share ---------------------------------------------------

void Dispatcher::fence(const std::vector<RoutePath>& paths,
                       const std::vector<uint32_t>& here) {
  if (paths.empty() || loads_.size() == 1) return;
  fences_.clear();
  for (const RoutePath& path : paths) {
    const auto& workers = path.workers.empty() ? here : path.workers;
    if (!path.writes) {
      paths_.read(path.file, workers, fences_);
      continue;
    }
    for (const uint32_t w : workers) paths_.write(path.file, w, fences_);
  }
  for (const Fence& f : fences_) {
    std::string text = "#fence " + std::to_string(f.from);
    std::vector<uint32_t> all = f.to;
    for (const uint32_t to : f.to) {
      text += (to == f.to[0] ? " " : ",") + std::to_string(to);
    }
    all.push_back(f.from);
    std::sort(all.begin(), all.end());
    issue(all, text, Issue::Kind::kControl);
  }
}

void Dispatcher::owe(const Route& route, const std::vector<uint32_t>* here) {
  for (const RouteOwed& owed : route.owed) {
    results_.owe(here == nullptr ? owed.worker : (*here)[0], owed.names,
                 route.owed_bytes);
  }
}

void Dispatcher::issue(const std::vector<uint32_t>& workers,
                       std::string_view text, Issue::Kind kind) {
  const uint64_t seq = next_seq_++;
  const auto line = static_cast<int64_t>(number_);
  for (const uint32_t w : workers) {
    if (told_file_[w] != file_number_) tell_file(w);
    outbox_.add(w, seq, line, text);
  }
  if (issues_) issues_({seq, number_, text, &workers, kind});
}

// What needs no number.
void Dispatcher::tell(const std::vector<uint32_t>& workers,
                      std::string_view text) {
  if (text.empty()) return;
  for (const uint32_t w : workers) {
    outbox_.add(w, next_seq_, static_cast<int64_t>(number_), text);
  }
}

void Dispatcher::tell_file(uint32_t worker) {
  told_file_[worker] = file_number_;
  if (file_.empty()) return;
  outbox_.add(worker, next_seq_, static_cast<int64_t>(number_),
              "#file " + quote(file_));
}

Outbox::Batch Dispatcher::take(uint32_t worker) {
  Outbox::Batch batch = outbox_.take(worker);
  loads_.mark(worker, batch.last);
  return batch;
}

}  // namespace gt
