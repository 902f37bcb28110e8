#include "shard/shard.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>

#include "base/message.h"
#include "ops/table.h"
#include "shard/gathers_ahead.h"
#include "shard/partitioner.h"
#include "shard/scheduler.h"
#include "shard/search.h"
#include "stream/line.h"
#include "stream/marks.h"
#include "stream/notes.h"
#include "stream/replay.h"
#include "stream/source.h"

namespace gt::shard {
namespace {

// Reads the streams of a job, one file after the other. Reports what is wrong
// with them. A file that cannot be read ends the input.
class ShardInput {
 public:
  // kOther is a mark, which this stage writes itself, or a line that is too
  // long.
  enum class Item : uint8_t { kLine, kOther, kEnd };

  ShardInput(const ShardJob& job, const ShardSay& say,
             std::function<void()> on_idle)
      : files_(job.files), say_(say), on_idle_(std::move(on_idle)) {
    if (files_.empty()) files_.emplace_back("-");
  }

  Item next(std::string_view& line) {
    while (source_ != nullptr || open()) {
      const Reader::Item item = source_->next(line);
      if (item == Reader::Item::kError) {
        fail_io(source_->errno_value());
      } else if (item == Reader::Item::kEnd ||
                 (item == Reader::Item::kPart && marks_.drops_part(line))) {
        close();
      } else if (item == Reader::Item::kTooLong) {
        reject({"a line of over 64 MiB", 0}, line);
        return Item::kOther;
      } else {
        return is_mark(line) ? Item::kOther : Item::kLine;
      }
    }
    return Item::kEnd;
  }

  // Returns the text of the line that is `index` lines behind the one that
  // next() returned last, or "" if there is none. It waits for that line. The
  // texts that were returned before are then no longer valid.
  std::string_view ahead(size_t index) {
    size_t begin = 0;
    for (;;) {
      const std::string_view text = source_->buffered();
      const size_t end = text.find('\n', begin);
      if (end == text.npos) {
        if (!source_->wait_for_more()) return {};
      } else if (index-- == 0) {
        return text.substr(begin, end - begin);
      } else {
        begin = end + 1;
      }
    }
  }

  // Returns the source of the line that next() returned last.
  Source& source() { return *source_; }
  // Returns the name of the first stream, for messages.
  std::string first() const { return name_of_input(files_[0]); }
  // Returns the place of the line that next() returned last.
  Place place() const { return {name_, source_->line()}; }
  // Returns the place that the note #at= of this line names, or else where the
  // line stands.
  std::string place_of(std::string_view text) const {
    Line line;
    if (parse_line(text, line).ok()) {
      if (const std::string_view* note = line.note("at")) {
        const NotedPlace at = parse_place(*note);
        return to_string(Place{at.file, at.line});
      }
    }
    return to_string(place());
  }
  // Returns the status for what was wrong with the streams themselves.
  Exit fault() const { return fault_; }
  // Returns the status that the streams report from the stages before.
  Exit upstream() const { return worst(upstream_, marks_.status()); }

 private:
  bool open() {
    if (next_ == files_.size()) return false;
    const std::string& file = files_[next_++];
    name_ = name_of_input(file);
    source_ = open_source(file, on_idle_);
    if (source_ == nullptr) fail_io(errno);
    return source_ != nullptr;
  }

  void close() {
    const std::string lost =
        cut_short_message(marks_, source_->is_empty_pipe(), source_->line());
    if (!lost.empty()) {
      fault_ = worst(fault_, Exit::kLost);
      say_("gt-shard: " + name_ + ": " + lost + "\n");
    }
    upstream_ = upstream();
    marks_ = Marks();
    source_.reset();
  }

  void fail_io(int error) {
    fault_ = worst(fault_, Exit::kUsage);
    say_("gt-shard: cannot read " + name_ + ": " + std::strerror(error) + "\n");
    next_ = files_.size();
    source_.reset();
  }

  void reject(const Error& error, std::string_view line) {
    fault_ = worst(fault_, Exit::kRejected);
    say_(format_error("gt-shard", place(), error, line));
  }

  bool is_mark(std::string_view line) {
    if (!line.starts_with('#')) return false;
    const Marks::Mark mark = marks_.take(line);
    if (mark == Marks::Mark::kBadVersion) {
      reject({std::string(kBadVersionText), 1}, line);
    }
    return mark != Marks::Mark::kNone;
  }

  std::vector<std::string> files_;
  const ShardSay& say_;
  const std::function<void()> on_idle_;
  size_t next_ = 0;
  std::string name_;
  std::unique_ptr<Source> source_;
  Marks marks_;  // the marks of the open stream
  Exit fault_ = Exit::kDone;
  Exit upstream_ = Exit::kDone;
};

class Sharder {
 public:
  Sharder(const ShardJob& job, const Config& config, Writer& writer,
          const ShardSay& say)
      : job_(job),
        config_(config),
        writer_(writer),
        say_(say),
        input_(job, say, [&writer] { writer.flush(); }),
        partitioner_(config,
                     job.explain
                         ? std::function<void(const std::string&)>(job.tell)
                         : nullptr,
                     plans_),
        replay_(partitioner_) {
    if (config.schedule()) {
      auto scheduler = std::make_unique<Scheduler>(
          *config.schedule(), config.machine(),
          OnEarlyEnd{
              [this](auto line) { return input_.place_of(line); },
              [this](const auto& place, const auto& line, int64_t microbatch) {
                tell_early_end(place, line, microbatch);
              }});
      scheduler_ = scheduler.get();
      order_ = std::move(scheduler);
    } else if (config.gathers_ahead()) {
      order_ = std::make_unique<GathersAhead>(config.machine());
    }
  }

  Exit run() {
    writer_.write(std::string(kOpenMark) + "\n");
    run_lines();
    finish();
    tell_unused();
    tell_schedule();
    if (job_.explain || job_.summary) job_.tell(summary());
    writer_.write(end_mark(status()) + "\n");
    writer_.flush();
    return status();
  }

 private:
  Exit status() const {
    return worst(status_, worst(input_.fault(), input_.upstream()));
  }

  void run_lines() {
    std::string_view read;
    std::string line, out;
    while (writer_.ok()) {
      if (replay_.ready()) {
        const size_t rounds =
            replay_.run(input_.source(), [this](std::string_view round) {
              write(round, true);
              return writer_.ok();
            });
        partitioner_.repeat_costs(static_cast<double>(rounds));
      }
      const ShardInput::Item item = input_.next(read);
      if (item == ShardInput::Item::kEnd) break;
      if (item == ShardInput::Item::kOther) {
        replay_.reset();
        continue;
      }
      out.clear();
      line = read;  // looking ahead moves what was read
      check_notes(line);
      const Status done = partitioner_.take(
          line, out, job_.explain ? input_.place_of(line) : "",
          [this](size_t index) { return input_.ahead(index); });
      if (!done.ok()) reject(done.error(), line);
      replay_.note(line, out);
      write(out);
    }
  }

  // Writes placed lines, in another order if there is one. Lines that came
  // with ranks already have the order that is meant, and their names may look
  // like invented ones, so from the first of them on nothing is ordered.
  void write(std::string_view lines, bool is_round = false) {
    if (order_ && partitioner_.has_passed_ranks()) finish_order();
    if (!order_ || partitioner_.has_passed_ranks()) {
      return writer_.write(lines);
    }
    std::string out;
    is_round ? order_->take_round(lines, out) : order_->take(lines, out);
    writer_.write(out);
  }

  void finish() {
    std::string out;
    partitioner_.finish(out);
    write(out);
    if (order_) finish_order();
  }

  void finish_order() {
    std::string out;
    order_->finish(out);
    writer_.write(out);
  }

  // Reports entries of the config that had no use. If the stream was placed
  // already, it uses no entries, and none are reported.
  void tell_unused() {
    if (!partitioner_.has_rewritten() || status() != Exit::kDone) return;
    std::vector<std::string> all = config_.unused();
    for (std::string& message :
         config_.without_effect(partitioner_.cuts_in_use())) {
      all.push_back(std::move(message));
    }
    for (std::string& message : config_.without_notes()) {
      all.push_back(std::move(message));
    }
    if (scheduler_ && !partitioner_.has_passed_ranks() &&
        scheduler_->costs().windows == 0) {
      all.push_back(config_.place(config_.schedule()->line) +
                    ": schedule: there is nothing to order, as no line is of a "
                    "microbatch (#mb=)");
    }
    for (const std::string& message : all) {
      if (config_.is_own_form()) status_ = worst(status_, Exit::kRejected);
      say_("gt-shard: " + message + "\n");
    }
  }

  void reject(const Error& error, std::string_view line) {
    status_ = worst(status_, Exit::kRejected);
    say_(format_error("gt-shard", {input_.place_of(line), 0}, error, line));
  }

  // Warns of a note that the schedule cannot use.
  void check_notes(std::string_view line) const {
    if (!scheduler_ || partitioner_.has_passed_ranks()) return;
    const Status known = check_microbatch(line);
    if (known.ok()) return;
    const Error warning{"warning: " + known.error().message,
                        known.error().column};
    say_(format_error("gt-shard", {input_.place_of(line), 0}, warning, line));
  }

  void tell_early_end(const std::string& place, const std::string& line,
                      int64_t microbatch) {
    const Error warning{
        "warning: the schedule ends before this line, though microbatch " +
            std::to_string(microbatch) +
            " is still to come, since the line shows values or binds anew what "
            "microbatches read; put it behind the last microbatch, or give it "
            "the note #mb= if it is of one",
        0};
    say_(format_error("gt-shard", {place, 0}, warning, line));
  }

  // Warns of a schedule whose order is that of a simpler one, or none; unless
  // the config is faulty, and its stages with it.
  void tell_schedule() {
    if (status() != Exit::kDone || !scheduler_ ||
        scheduler_->costs().windows == 0)
      return;
    const ScheduleKind& kind = *config_.schedule()->kind;
    const ScheduleCosts& costs = scheduler_->costs();
    std::string what;
    if (costs.stages <= 1) {
      what =
          "all microbatches stay on the same ranks, so no stage waits for "
          "another; give parts of the model ranks of their own by on:";
    } else if (kind.wants_parts && costs.most_parts == 1) {
      what = std::string(kind.name) +
             " wants several parts of the model on each rank, and each has one";
    } else if (kind.wants_return && !costs.comes_back) {
      what = std::string(kind.name) +
             " wants the last part of the model on the rank of the first, so "
             "that parts go there and back";
    } else {
      return;
    }
    say_("gt-shard: " + config_.place(config_.schedule()->line) +
         ": warning: schedule: " + what + "\n");
  }

  // What a schedule puts in order takes less time than its lines together.
  double expected_seconds() const {
    if (!scheduler_ || scheduler_->costs().windows == 0) {
      return partitioner_.costs().seconds;
    }
    return scheduler_->costs().seconds + scheduler_->costs().between;
  }

  std::string summary() const {
    const ShardCosts& costs = partitioner_.costs();
    char line[160];
    std::string out = partitioner_.traffic_text();
    std::snprintf(line, sizeof line,
                  "gt-shard: %.6g MB a rank at most; %.6g ms expected\n",
                  (order_ && !partitioner_.has_passed_ranks()
                       ? static_cast<double>(order_->peak_bytes())
                       : costs.peak_bytes) /
                      1e6,
                  expected_seconds() * 1e3);
    out += line;
    return scheduler_ ? out + schedule_summary(scheduler_->costs()) : out;
  }

  std::string schedule_summary(const ScheduleCosts& costs) const {
    char line[240];
    const double all = costs.seconds * static_cast<double>(costs.ranks);
    const double share = all > 0 ? costs.busy / all : 1;
    std::snprintf(
        line, sizeof line,
        "gt-shard: schedule %s: stages: %lld, microbatches: %zu, "
        "windows: %llu, in which ranks compute for %.1f %%; at most %lld "
        "under way on a rank\n",
        std::string(config_.schedule()->kind->name).c_str(),
        static_cast<long long>(costs.stages), costs.most_microbatches,
        static_cast<unsigned long long>(costs.windows), share * 100,
        static_cast<long long>(costs.most_open));
    return line;
  }

  const ShardJob& job_;
  const Config& config_;
  Writer& writer_;
  const ShardSay& say_;
  ShardInput input_;
  PlanCache plans_;
  Partitioner partitioner_;
  Replay replay_;
  std::unique_ptr<LineOrder> order_;  // null: that of the program
  Scheduler* scheduler_ = nullptr;    // the order, if it is a schedule
  Exit status_ = Exit::kDone;
};

}  // namespace

Exit shard(const ShardJob& job, const Config& config, Writer& writer,
           const ShardSay& say) {
  return Sharder(job, config, writer, say).run();
}

Exit plan_config(const ShardJob& job, const Config& given, int64_t ranks,
                 Writer& writer, const ShardSay& say) {
  if (const size_t line = given.first_entry(); line > 0) {
    say("gt-shard: " + given.place(line) +
        ": --plan finds signals: and tensors: itself; give it a config without "
        "them, of mesh:, machine:, regather:, ring:, chunks:, sums:, "
        "precision: and "
        "schedule:\n");
    return Exit::kRejected;
  }
  SearchJob search{{}, ranks, given};
  std::vector<std::vector<std::string>> places;  // by form, then by line
  Exit upstream = Exit::kDone;
  std::vector<std::string> files = job.files;
  if (files.empty()) files.emplace_back("-");
  for (const std::string& file : files) {
    ShardJob one;
    one.files = {file};
    ShardInput input(one, say, nullptr);
    SearchForm& form = search.forms.emplace_back();
    form.name = input.first();
    places.emplace_back();
    using Item = ShardInput::Item;
    std::string_view line;
    for (Item item; (item = input.next(line)) != Item::kEnd;) {
      if (item == Item::kLine && !line.starts_with('#')) {
        form.lines.emplace_back(line);
        places.back().push_back(input.place_of(line));
      }
    }
    if (input.fault() != Exit::kDone) return input.fault();
    upstream = worst(upstream, input.upstream());
  }
  SearchCulprit culprit;
  const auto found = search_config(search, culprit);
  if (!found.ok()) {
    const SearchForm& form = search.forms[culprit.form];
    const std::string place =
        culprit.line ? places[culprit.form][*culprit.line] : form.name;
    say(format_error("gt-shard", {place, 0}, found.error(),
                     culprit.line ? form.lines[*culprit.line] : ""));
    return Exit::kRejected;
  }
  writer.write(found.value().yaml);
  if (job.explain) job.tell(found.value().weighed);
  writer.flush();
  return upstream;
}

}  // namespace gt::shard
