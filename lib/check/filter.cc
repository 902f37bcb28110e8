#include "check/filter.h"

#include <cerrno>
#include <cstring>

#include "base/message.h"
#include "check/checker.h"
#include "stream/marks.h"
#include "stream/source.h"

namespace gt::check {
namespace {

class CheckFilter {
 public:
  CheckFilter(const CheckJob& job, Writer& out,
              const std::function<void(std::string_view)>& say)
      : job_(job),
        out_(out),
        say_(say),
        checker_(job.options, job.trace, job.memory ? &footprint_ : nullptr) {}

  Exit run() {
    write(kOpenMark);
    if (job_.files.empty()) run_file("-");
    for (const std::string& file : job_.files) run_file(file);
    check_local_axes();
    write(end_mark(status_));
    out_.flush();
    if (job_.memory) say_(footprint_.summary());
    return status_;
  }

 private:
  void write(std::string_view line) {
    if (job_.quiet) return;
    out_.write(line);
    out_.write("\n");
  }

  void complain(std::string_view file, size_t line, const Error& error,
                Exit status, std::string_view text = {}) {
    status_ = worst(status_, status);
    out_.flush();
    say_(format_error("gt-check", {file, line}, error, text));
  }

  void run_file(const std::string& path) {
    if (!out_.ok()) return;
    const std::string file = name_of_input(path);
    const auto source = open_source(path, [this] { out_.flush(); });
    if (source == nullptr) {
      complain(file, 0, {std::strerror(errno), 0}, Exit::kUsage);
      return;
    }
    read(*source, file);
    status_ = worst(status_, marks_.status());
    marks_ = Marks();
  }

  void read(Source& source, const std::string& file) {
    for (std::string_view line; out_.ok();) {
      const Reader::Item item = source.next(line);
      if (item == Reader::Item::kEnd) break;
      if (item == Reader::Item::kError) {
        return complain(file, 0, {std::strerror(source.errno_value()), 0},
                        Exit::kUsage);
      }
      if (item == Reader::Item::kPart && marks_.drops_part(line)) break;
      if (item == Reader::Item::kTooLong) {
        complain(file, source.line(), {std::string(kTooLongText), 0},
                 Exit::kRejected);
      } else if (!take_comment(file, source.line(), line)) {
        take_line(file, source.line(), line);
      }
    }
    if (!out_.ok()) return;
    const std::string lost =
        cut_short_message(marks_, source.is_empty_pipe(), source.line());
    if (!lost.empty()) complain(file, 0, {lost, 0}, Exit::kLost);
  }

  // --local with an axis that no mesh has would have no effect.
  void check_local_axes() {
    const std::set<std::string>& known = checker_.axes();
    if (known.empty()) return;
    const std::vector<std::string_view> names(known.begin(), known.end());
    for (const std::string& axis : job_.options.local_axes) {
      if (known.count(axis) > 0) continue;
      status_ = worst(status_, Exit::kUsage);
      out_.flush();
      say_("gt-check: --local: no mesh of the stream has an axis '" + axis +
           "'" + did_you_mean(axis, names) + "\n");
    }
  }

  // Passes comments on; but this stage writes the marks itself.
  bool take_comment(const std::string& file, size_t number,
                    std::string_view line) {
    if (line.empty() || line[0] != '#') return false;
    const Marks::Mark mark = marks_.take(line);
    if (mark == Marks::Mark::kNone) write(line);
    if (mark == Marks::Mark::kBadVersion) {
      complain(file, number, {std::string(kBadVersionText), 1}, Exit::kRejected,
               line);
    }
    return true;
  }

  void take_line(const std::string& file, size_t number,
                 std::string_view line) {
    const Checker::Checked& checked = checker_.take(line);
    if (job_.trace && !checked.trace.empty()) {
      say_(std::to_string(number) + " " + checked.trace + "\n");
    }
    if (checked.is_unreadable) {
      complain(file, number, checked.error, Exit::kRejected, line);
    }
    if (!checked.problems.empty()) status_ = worst(status_, Exit::kFailed);
    // The problems of a line that comes again in a loop are reported once.
    if (checked.is_new) tell(file, number, checked);
    write(checked.noted);
  }

  // Returns "op: axis tp: message [rule]". Errors of shapes and names begin
  // with the op already; for an unknown op the op is left out.
  static Error worded(const Checker::Checked& checked, const Problem& problem) {
    const std::string op = checked.op + ": ";
    std::string_view message = problem.message;
    if (message.starts_with(op)) message.remove_prefix(op.size());
    std::string text = message.starts_with("unknown op ") ? "" : op;
    if (!problem.axis.empty()) text += "axis " + problem.axis + ": ";
    text += std::string(message) + " [" + problem.kind + "]";
    return {text, problem.column};
  }

  void tell(const std::string& file, size_t number,
            const Checker::Checked& checked) {
    if (checked.problems.empty() && checked.remarks.empty()) return;
    // The place where a person wrote the line, if known; else where it was
    // read.
    const Place place =
        checked.at.empty() ? Place{file, number} : Place{checked.at, 0};
    std::string text;
    for (const std::string& remark : checked.remarks) {
      text += format_error("gt-check", place, {"note: " + remark, 0}, "");
    }
    for (const Problem& problem : checked.problems) {
      text += format_error("gt-check", place, worded(checked, problem),
                           checked.text);
      if (!checked.types.empty()) text += "  types: " + checked.types + "\n";
      if (!problem.why.empty()) text += "  why: " + problem.why + "\n";
      for (const std::string& fix : problem.fixes) {
        text += "  fix: " + fix + "\n";
      }
    }
    out_.flush();
    say_(text);
  }

  const CheckJob& job_;
  Writer& out_;
  const std::function<void(std::string_view)>& say_;
  Footprint footprint_;
  Checker checker_;
  Marks marks_;
  Exit status_ = Exit::kDone;
};

}  // namespace

Exit check(const CheckJob& job, Writer& out,
           const std::function<void(std::string_view)>& say) {
  return CheckFilter(job, out, say).run();
}

}  // namespace gt::check
