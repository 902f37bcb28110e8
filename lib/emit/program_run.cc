#include "emit/program_run.h"

#include <cstring>
#include <utility>

namespace gt::emit {
namespace {

// The most bytes of output of replayed rounds before the source is asked for a
// line, so that a source which gives that much at a time can end there.
constexpr size_t kReplayAtOnce = size_t{256} << 10;

}  // namespace

ProgramRun::ProgramRun(const ProgramOptions& options, Output output,
                       std::function<void(std::string_view)> say)
    : replays_(options.replay && !options.session.tape),
      is_tape_(options.session.tape),
      program_(options.session.program),
      begin_long_work_(options.begin_long_work),
      output_(std::move(output)),
      say_(std::move(say)),
      session_(options.session, say_),
      replay_(session_) {}

void ProgramRun::begin_input(std::string_view name, bool at) {
  file_ = session_.add_file(name, at);
  marks_ = Marks();
  replay_.reset();
}

bool ProgramRun::put(std::string_view lines, uint64_t cost) {
  if (!lines.empty()) goes_on_ = output_(lines, cost);
  return goes_on_;
}

// Writes what a line was replaced by, out_, or keeps it back within a group of
// saves. A round that is replayed is written at once, so that none may begin or
// end within a group.
void ProgramRun::take_line(std::string_view line, Origin origin,
                           uint64_t cost) {
  if (is_saves_mark(line, kSavesBegin)) {
    if (saves_.holds()) {
      give_up_saves("another '#saves begin' came before '#saves end'");
    }
    replay_.reset();
    saves_.begin(origin);
  }
  if (!saves_.is_within()) {
    put(out_, cost);
    return;
  }
  if (saves_.holds()) {
    const std::string_view why = saves_.add(line, out_, cost);
    if (!why.empty()) give_up_saves(why);
  }
  if (!saves_.holds()) put(without_saves(out_), cost);
  if (!is_saves_mark(line, kSavesEnd)) return;
  replay_.reset();
  const HeldSaves::Lines held = saves_.end();
  put(held.text, held.cost);
}

void ProgramRun::give_up_saves(std::string_view why) {
  session_.refuse(std::string(why) +
                      ": none of the saves from here on is done, since they "
                      "are to be done together",
                  saves_.begins_at(), kSavesBegin);
  const HeldSaves::Lines held = saves_.give_up();
  put(held.text, held.cost);
}

// A line with very many operands, or a grad that may go through a long history.
bool ProgramRun::may_take_long(std::string_view line) const {
  constexpr size_t kLongLine = size_t{16} << 10;  // bytes
  constexpr size_t kLongHistory = 10'000;         // lines
  return line.size() > kLongLine ||
         (session_.history() > kLongHistory &&
          line.find(" grad ") != std::string_view::npos);
}

bool ProgramRun::feed(Source& source) {
  std::string_view line;
  while (goes_on_ && !session_.stopped()) {
    if (replay_.ready() && !saves_.is_within()) {
      size_t bytes = 0;
      replay_.run(source, [&](std::string_view round) {
        bytes += round.size();
        return put(round, session_.round_cost()) && bytes < kReplayAtOnce;
      });
    }
    const Reader::Item item = source.next(line);
    if (item == Reader::Item::kEnd) return true;
    if (item == Reader::Item::kError) {
      fail_input(session_.file_name(file_), source.errno_value());
      return false;
    }
    if (item == Reader::Item::kPart && marks_.drops_part(line)) return true;
    const std::shared_ptr<void> long_work =
        begin_long_work_ && may_take_long(line) ? begin_long_work_() : nullptr;
    const Origin origin{file_, source.line()};
    const uint64_t cost = session_.usage().cost;
    out_.clear();
    if (item == Reader::Item::kTooLong) {
      session_.reject_long(line, origin, out_);
    } else if (!take_mark(line, origin)) {
      session_.feed(line, origin, out_);
      if (replays_) replay_.note(line, out_);
    }
    if (is_tape_) {
      put(session_.take_tape(), 0);
    } else {
      take_line(line, origin, session_.usage().cost - cost);
    }
  }
  return false;
}

void ProgramRun::end_input(bool is_empty_pipe, size_t lines) {
  status_ = worst(status_, marks_.status());
  session_.set_emitted(false);
  if (session_.stopped()) return;
  const std::string lost = cut_short_message(marks_, is_empty_pipe, lines);
  if (lost.empty()) return;
  status_ = worst(status_, Exit::kLost);
  say_(program_ + ": " + session_.file_name(file_) + ": " + lost + "\n");
}

void ProgramRun::fail_input(std::string_view name, int error) {
  status_ = worst(worst(status_, marks_.status()), Exit::kUsage);
  say_(program_ + ": cannot read " + std::string(name.empty() ? "''" : name) +
       ": " + std::strerror(error) + "\n");
}

Exit ProgramRun::finish() {
  if (saves_.holds()) {
    give_up_saves("the program ended before '#saves end'");
  }
  session_.finish();
  put(session_.take_tape(), 0);
  return worst(worst(status_, marks_.status()), session_.status());
}

Exit ProgramRun::take_status() {
  return worst(std::exchange(status_, Exit::kDone), session_.take_status());
}

void ProgramRun::let_go() {
  out_.clear();
  session_.let_go(out_);
  put(out_, 0);
}

// This stage writes "#gt" and "#end" itself, so they do not pass.
bool ProgramRun::take_mark(std::string_view line, Origin origin) {
  if (!line.starts_with('#')) return false;
  const Marks::Mark mark = marks_.take(line);
  if (mark == Marks::Mark::kNone) return false;
  if (mark == Marks::Mark::kBadVersion) {
    status_ = worst(status_, Exit::kRejected);
    say_(format_error(program_,
                      {session_.file_name(origin.file()), origin.line()},
                      {std::string(kBadVersionText), 1}, line));
  }
  session_.set_emitted(marks_.open());
  replay_.reset();
  return true;
}

}  // namespace gt::emit
