// The fast path: a line that was seen before, to the bodies of workers.
#include "route/dispatcher.h"

#include <algorithm>

#include "base/hash.h"

namespace gt {
namespace {

using Action = Route::Action;

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
      hot_(options.hot),
      source_{std::make_shared<const std::string>(), 1, 0},
      loads_(options.workers),
      paths_(options.workers),
      ranks_(options.workers),
      results_(options.workers),
      outbox_(options.workers),
      routes_(options.caches ? options.cache_sets : 1),
      seen_(options.caches) {
  for (uint32_t w = 0; w < options.workers; ++w) everyone_.push_back(w);
}

void Dispatcher::set_file(std::string_view name) {
  source_.file = std::make_shared<const std::string>(name);
  source_.file_number = ++files_;
  end_rounds();
}

void Dispatcher::line(std::string_view text, uint64_t number) {
  is_steady_ = false;
  if (round_.is_on()) round_.add_text(text);
  if (text.empty()) return;
  source_.line = number;
  came_ = text;
  const NotedText parts = split_notes(text);
  if (parts.text.empty()) return comment(text, parts.notes);
  ++lines_;
  const uint64_t hash = caches_ || hot_ ? hash_bytes(parts.text) : 0;
  if (!hot_) return dispatch(text, parts, hash);
  const BlockFinder::Step step = finder_.next(hash);
  if (step.breaks) outbox_.drop_block();
  if (step.breaks || !(finder_.is_inside() || step.ends)) end_rounds();
  if (step.begins == 0) {
    dispatch(text, parts, hash);
  } else {
    begin_block(text);
    dispatch_marked(parts, hash, step.begins);
  }
  if (step.ends) end_block();
}

void Dispatcher::comment(std::string_view text, std::string_view notes) {
  if (notes.empty()) return;
  if (issues_) {
    const std::vector<uint32_t> nobody;
    issues_(
        {next_seq_ - 1, source_.line, notes, &nobody, Issue::Kind::kComment});
  }
  const Marks::Mark mark = marks_.take(notes);
  if (mark != Marks::Mark::kNone) end_rounds();
  if (mark == Marks::Mark::kBadVersion) {
    reject(text, "a stream of this version cannot be read; gt 1 is known",
           source_.line);
  }
}

// The first line of a block that came before says so, if it is a line at all:
// what is no instruction would be another wrong one with a note behind it.
void Dispatcher::dispatch_marked(const NotedText& parts, uint64_t hash,
                                 uint32_t block) {
  const bool is_marked = parts.notes.find("#hot=") != std::string_view::npos;
  marked_.assign(parts.text);
  if (!is_marked) marked_.append(" #hot=").append(std::to_string(block));
  if (!parts.notes.empty()) marked_.append(" ").append(parts.notes);
  if (!parse_line(came_, line_).ok() || !parse_line(marked_, line_).ok()) {
    return dispatch(came_, parts, hash);
  }
  dispatch(marked_, split_notes(marked_), hash);
}

void Dispatcher::dispatch(std::string_view text, const NotedText& parts,
                          uint64_t hash) {
  if (caches_ && parts.is_clean) {
    Route* route = routes_.find(hash, parts.text);
    if (route != nullptr && is_valid(*route) &&
        check_notes(*route, parts.notes)) {
      if (round_.is_on()) round_.add(*route, loads_);
      return act(*route, parts);
    }
  }
  end_rounds();
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
    case Action::kGive:
      return output(route, text);
    case Action::kFree:
      return free(route, parts);
  }
}

// ---- unplaced lines ---------------------------------------------------------

void Dispatcher::run(const Route& route, std::string_view text) {
  if (route.makes && hold(route, text)) return;
  const uint32_t worker = place(route);
  for (const RouteOperand& operand : route.operands) bring(operand, worker);
  for (const RouteResult& result : route.results) {
    if (homes_[result.id].held != 0) issue_held(result.id, worker);
  }
  here_.assign(1, worker);
  fence(route.paths, here_);
  issue(here_, text);
  loads_.add(worker, route.cost);
  bind_on(worker, route);
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
    if (stays && home.stamp.type == result.type) {
      home.ready = loads_.issued(worker);
    } else {
      release_on(home);
      settle(result.id, worker, result.bytes);
    }
    if (route.action == Action::kFail) {
      homes_.fail(result.id, route.failure, types_);
    } else {
      homes_.bind(result.id, result.type, types_);
    }
  }
}

// The register's value is on this worker, and nowhere else.
void Dispatcher::settle(HomeId id, uint32_t worker, uint64_t bytes) {
  Home& home = homes_[id];
  stale_.clear();
  for (const uint32_t holder : home.holders) {
    if (holder != worker) stale_.push_back(holder);
  }
  home.holders.clear();
  home.holders.push_back(worker);
  home.ready = loads_.issued(worker);
  loads_.hold(worker, bytes);
  if (stale_.empty()) return;
  std::sort(stale_.begin(), stale_.end());
  // Elsewhere lie copies of what the name stood for. In the log this is no
  // instruction: replayed by one worker it would free the new value.
  text_.assign("free ").append(homes_.name_of(id));
  issue(stale_, text_, Issue::Kind::kControl);
}

// print and save, where the value is.
void Dispatcher::output(const Route& route, std::string_view text) {
  issue_readers(route.paths);
  const HomeId id = route.operands[0].id;
  if (homes_[id].held != 0) issue_held(id, place_alone(id));
  here_.assign(1, homes_[id].holders[0]);
  fence(route.paths, here_);
  issue(here_, text);
  loads_.add(here_[0], route.cost);
  owe(route, &here_);
}

void Dispatcher::free(const Route& route, const NotedText& parts) {
  for (const RouteOperand& operand : route.operands) {
    if (homes_[operand.id].held != 0) {
      issue_held(operand.id, place_alone(operand.id));
    }
  }
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
  issue_readers(route.paths);
  text_.assign(parts.text);
  text_.append(route.pieces);
  if (!parts.notes.empty()) text_.append(" ").append(parts.notes);
  fence(route.paths, route.workers);
  issue(route.workers, text_);
  loads_.add(route.workers, route.cost);
  if (route.action == Action::kGive) return owe(route, nullptr);
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
    const size_t before = fences_.size();
    if (path.writes) {
      for (const uint32_t w : workers) paths_.write(path.file, w, fences_);
    } else {
      paths_.read(path.file, workers, fences_);
    }
    for (size_t i = before; i < fences_.size(); ++i) {
      fences_[i].file = path.spelling;
    }
  }
  for (const Fence& f : fences_) {
    std::string text = "#fence " + std::to_string(f.from);
    std::vector<uint32_t> all = f.to;
    for (const uint32_t to : f.to) {
      text += (to == f.to[0] ? " " : ",") + std::to_string(to);
    }
    text += " " + quote(f.file);
    all.push_back(f.from);
    std::sort(all.begin(), all.end());
    issue(all, text, Issue::Kind::kControl);
  }
}

void Dispatcher::owe(const Route& route, const std::vector<uint32_t>* here) {
  for (const RouteOwed& owed : route.owed) {
    const uint32_t worker = here == nullptr ? owed.worker : (*here)[0];
    results_.owe(worker, owed.heads, route.owed_bytes, next_seq_ - 1);
    if (round_.is_on()) {
      round_.owe(worker, owed, route.owed_bytes, next_seq_ - 1);
    }
  }
}

void Dispatcher::issue(const std::vector<uint32_t>& workers,
                       std::string_view text, Issue::Kind kind) {
  const uint64_t seq = next_seq_++;
  if (told_file_ != source_.file_number) tell_file();
  outbox_.add(workers, seq, static_cast<int64_t>(source_.line), text);
  if (issues_) issues_({seq, source_.line, text, &workers, kind});
}

// What needs no number.
void Dispatcher::tell(const std::vector<uint32_t>& workers,
                      std::string_view text) {
  if (text.empty()) return;
  outbox_.add(workers, next_seq_, static_cast<int64_t>(source_.line), text);
}

void Dispatcher::tell_file() {
  told_file_ = source_.file_number;
  outbox_.drop_block();  // places go back
  if (!file().empty()) tell(everyone_, "#file " + quote(file()));
}

std::vector<Outbox::Batch> Dispatcher::take(Outbox::Take which) {
  std::vector<Outbox::Batch> out = outbox_.take(which);
  for (const Outbox::Batch& batch : out) {
    for (const uint32_t w : batch.workers) loads_.mark(w, batch.last);
  }
  return out;
}

}  // namespace gt
