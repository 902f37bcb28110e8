#include "shard/shard.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/message.h"
#include "ops/table.h"
#include "shard/partitioner.h"
#include "shard/search.h"
#include "stream/line.h"
#include "stream/marks.h"
#include "stream/notes.h"
#include "stream/replay.h"
#include "stream/source.h"

namespace gt::shard {
namespace {

class Sharder {
 public:
  Sharder(const ShardJob& job, const Config& config, Writer& writer,
          const ShardSay& say)
      : job_(job),
        config_(config),
        writer_(writer),
        say_(say),
        partitioner_(config,
                     job.explain
                         ? std::function<void(const std::string&)>(job.tell)
                         : nullptr),
        replay_(partitioner_) {}

  Exit run() {
    writer_.write(std::string(kOpenMark) + "\n");
    std::vector<std::string> files = job_.files;
    if (files.empty()) files.emplace_back("-");
    for (const std::string& file : files) {
      if (!run_file(file)) break;
    }
    finish();
    tell_unused();
    if (job_.explain || job_.summary) job_.tell(summary());
    writer_.write(end_mark(status_) + "\n");
    writer_.flush();
    return status_;
  }

 private:
  void finish() {
    std::string out;
    partitioner_.finish(out);
    writer_.write(out);
  }

  // A stream that is placed already uses none.
  void tell_unused() {
    if (!partitioner_.has_rewritten() || status_ != Exit::kDone) return;
    std::vector<std::string> all = config_.unused();
    for (std::string& message :
         config_.without_effect(partitioner_.cuts_in_use())) {
      all.push_back(std::move(message));
    }
    for (const std::string& message : all) {
      if (config_.is_own_form()) status_ = worst(status_, Exit::kRejected);
      say_("gt-shard: " + message + "\n");
    }
  }

  bool fail_io(const std::string& file, int error) {
    status_ = worst(status_, Exit::kUsage);
    say_("gt-shard: cannot read " + file + ": " + std::strerror(error) + "\n");
    return false;
  }

  bool run_file(const std::string& file) {
    file_ = file == "-" ? "<stdin>" : file;
    const auto source = open_source(file, [this] { writer_.flush(); });
    if (source == nullptr) return fail_io(file_, errno);
    marks_ = Marks();
    const bool ok = run_lines(*source);
    status_ = worst(status_, marks_.status());
    if (!ok) return false;
    const std::string lost =
        cut_short_message(marks_, source->is_empty_pipe(), source->line());
    if (lost.empty()) return true;
    status_ = worst(status_, Exit::kLost);
    say_("gt-shard: " + file_ + ": " + lost + "\n");
    return true;
  }

  bool run_lines(Source& source) {
    std::string_view line;
    std::string out;
    while (writer_.ok()) {
      if (replay_.ready()) {
        const size_t rounds = replay_.run(source, writer_);
        partitioner_.repeat_costs(static_cast<double>(rounds));
      }
      const Reader::Item item = source.next(line);
      if (item == Reader::Item::kEnd) break;
      if (item == Reader::Item::kError) {
        return fail_io(file_, source.errno_value());
      }
      if (item == Reader::Item::kPart && marks_.drops_part(line)) break;
      number_ = source.line();
      out.clear();
      if (item == Reader::Item::kTooLong) {
        reject({"a line of over 64 MiB", 0}, line);
        replay_.reset();
      } else if (!take_mark(line)) {
        if (job_.explain) partitioner_.at(place_of(line));
        const Status done = partitioner_.take(line, out);
        if (!done.ok()) reject(done.error(), line);
        replay_.note(line, out);
      }
      writer_.write(out);
    }
    return writer_.ok();
  }

  // "#gt" and "#end" are this stage's to write, so they do not pass.
  bool take_mark(std::string_view line) {
    if (!line.starts_with('#')) return false;
    const Marks::Mark mark = marks_.take(line);
    if (mark == Marks::Mark::kNone) return false;
    if (mark == Marks::Mark::kBadVersion) {
      reject({std::string(kBadVersionText), 1}, line);
    }
    replay_.reset();
    return true;
  }

  void reject(const Error& error, std::string_view line) {
    status_ = worst(status_, Exit::kRejected);
    say_(format_error("gt-shard", {place_of(line), 0}, error, line));
  }

  // As the line itself says, or else where it stands.
  std::string place_of(std::string_view text) const {
    Line line;
    if (parse_line(text, line).ok()) {
      if (const std::string_view* note = line.note("at")) {
        const NotedPlace at = parse_place(*note);
        return to_string(Place{at.file, at.line});
      }
    }
    return to_string(Place{file_, number_});
  }

  std::string summary() const {
    const ShardCosts& costs = partitioner_.costs();
    char line[160];
    std::string out;
    for (const auto& [op, traffic] : costs.traffic) {
      // A copy's targets send nothing.
      std::snprintf(line, sizeof line,
                    "gt-shard: %s: %llu line%s, %.6g MB from each %s\n",
                    op.c_str(), static_cast<unsigned long long>(traffic.lines),
                    traffic.lines == 1 ? "" : "s", traffic.bytes / 1e6,
                    collective_of(op) == Collective::kCopy ? "sender" : "rank");
      out += line;
    }
    std::snprintf(line, sizeof line,
                  "gt-shard: %.6g MB a rank at most; %.6g ms expected\n",
                  costs.peak_bytes / 1e6, costs.seconds * 1e3);
    return out + line;
  }

  const ShardJob& job_;
  const Config& config_;
  Writer& writer_;
  const ShardSay& say_;
  Partitioner partitioner_;
  Replay replay_;
  Marks marks_;
  Exit status_ = Exit::kDone;
  std::string file_;
  size_t number_ = 0;
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
        ": --plan finds signals: and tensors: itself; give it a config of "
        "mesh: and machine: alone\n");
    return Exit::kRejected;
  }
  SearchJob search{{}, ranks, given};
  std::vector<std::string> files = job.files;
  if (files.empty()) files.emplace_back("-");
  Exit status = Exit::kDone;
  for (const std::string& file : files) {
    const auto source = open_source(file);
    if (source == nullptr) {
      say("gt-shard: cannot read " + file + ": " + std::strerror(errno) + "\n");
      return Exit::kUsage;
    }
    Marks marks;
    std::string_view line;
    Reader::Item item = source->next(line);
    for (; item == Reader::Item::kLine || item == Reader::Item::kPart;
         item = source->next(line)) {
      if (line.starts_with('#')) {
        marks.take(line);
      } else {
        search.lines.emplace_back(line);
      }
    }
    status = worst(status, marks.status());
    const std::string name = file == "-" ? "<stdin>" : file;
    const auto fail = [&](const std::string& why, Exit as) {
      say(format_error("gt-shard", {name, 0}, {why, 0}, ""));
      return as;
    };
    if (item == Reader::Item::kError) {
      return fail(std::strerror(source->errno_value()), Exit::kUsage);
    }
    if (item == Reader::Item::kTooLong) {
      return fail("line " + std::to_string(source->line()) + " is over 64 MiB",
                  Exit::kRejected);
    }
    const std::string lost =
        cut_short_message(marks, source->is_empty_pipe(), source->line());
    if (!lost.empty()) return fail(lost, Exit::kLost);
  }
  const auto found = search_config(search);
  if (!found.ok()) {
    say(format_error("gt-shard", {files[0] == "-" ? "<stdin>" : files[0], 0},
                     found.error(), ""));
    return Exit::kRejected;
  }
  writer.write(found.value());
  writer.flush();
  return status;
}

}  // namespace gt::shard
