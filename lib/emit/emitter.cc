#include "emit/emitter.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "base/io.h"
#include "stream/marks.h"
#include "stream/replay.h"
#include "stream/source.h"

namespace gt::emit {
namespace {

constexpr std::string_view kStdinName = "<stdin>";
constexpr size_t kMostRepeated = size_t{1} << 30;

class Emitter {
 public:
  Emitter(const EmitJob& job, Writer& writer,
          const std::function<void(std::string_view)>& say)
      : job_(job),
        writer_(writer),
        say_(say),
        session_(job.session, say),
        replay_(session_) {}

  Exit run() {
    if (!job_.session.tape) write_mark(kOpenMark);
    for (const EmitInput& input : job_.inputs) {
      if (!run_input(input) || session_.stopped()) break;
    }
    session_.finish();
    writer_.write(session_.take_tape());
    const Exit status =
        worst(worst(status_, marks_.status()), session_.status());
    if (!job_.session.tape) write_mark(end_mark(status));
    writer_.flush();
    return status;
  }

 private:
  void write_mark(std::string_view mark) {
    writer_.write(mark);
    writer_.write("\n");
  }

  bool fail_io(const std::string& what, int error) {
    status_ = worst(status_, Exit::kUsage);
    say_(job_.session.program + ": cannot read " +
         (what.empty() ? "''" : what) + ": " + std::strerror(error) + "\n");
    return false;
  }

  std::unique_ptr<Source> open(const EmitInput& input) {
    if (input.kind == EmitInput::Kind::kText) {
      return std::make_unique<TextSource>(input.text, 1);
    }
    if (input.rounds != 1) return open_repeated(input);
    const bool is_stdin = input.kind == EmitInput::Kind::kStdin;
    const auto idle = [this] { writer_.flush(); };
    auto source = open_source(is_stdin ? "-" : input.text, idle);
    if (source == nullptr) fail_io(input.text, errno);
    return source;
  }

  // What is fed more than once is kept.
  std::unique_ptr<Source> open_repeated(const EmitInput& input) {
    const bool is_stdin = input.kind == EmitInput::Kind::kStdin;
    const int fd = is_stdin ? STDIN_FILENO
                            : ::open(input.text.c_str(), O_RDONLY | O_CLOEXEC);
    std::string text;
    int error = fd < 0 ? errno : read_whole(fd, text, kMostRepeated);
    if (error == 0 && text.size() == kMostRepeated) error = EFBIG;
    const bool of_empty_pipe = text.empty() && is_empty_pipe(fd);
    if (fd >= 0 && !is_stdin) ::close(fd);
    if (error == 0) {
      return std::make_unique<TextSource>(std::move(text), input.rounds,
                                          of_empty_pipe);
    }
    fail_io(is_stdin ? std::string(kStdinName) : input.text, error);
    return nullptr;
  }

  bool run_input(const EmitInput& input) {
    const bool is_file = input.kind == EmitInput::Kind::kFile;
    const std::string name = is_file ? input.text
                             : input.kind == EmitInput::Kind::kText
                                 ? std::string("-e")
                                 : std::string(kStdinName);
    const uint32_t file =
        session_.add_file(name, job_.session.at && (is_file || job_.at_stdin));
    const std::unique_ptr<Source> source = open(input);
    if (source == nullptr) return false;
    marks_ = Marks();
    replay_.reset();
    const bool ok = run_lines(*source, file);
    status_ = worst(status_, marks_.status());
    session_.set_emitted(false);
    if (!ok || session_.stopped()) return ok;
    const std::string lost =
        cut_short_message(marks_, source->is_empty_pipe(), source->line());
    if (lost.empty()) return true;
    status_ = worst(status_, Exit::kLost);
    say_(job_.session.program + ": " + name + ": " + lost + "\n");
    return true;
  }

  bool run_lines(Source& source, uint32_t file) {
    std::string_view line;
    while (writer_.ok() && !session_.stopped()) {
      if (replay_.ready()) replay_.run(source, writer_);
      const Reader::Item item = source.next(line);
      if (item == Reader::Item::kEnd) break;
      if (item == Reader::Item::kError) {
        return fail_io(session_.file_name(file), source.errno_value());
      }
      if (item == Reader::Item::kPart && marks_.drops_part(line)) break;
      const Origin origin{file, source.line()};
      out_.clear();
      if (item == Reader::Item::kTooLong) {
        session_.reject_long(line, origin, out_);
      } else if (!take_mark(line, origin)) {
        session_.feed(line, origin, out_);
        if (job_.replay && !job_.session.tape) replay_.note(line, out_);
      }
      writer_.write(job_.session.tape ? session_.take_tape() : out_);
    }
    return writer_.ok();
  }

  // "#gt" and "#end" are this stage's to write, so they do not pass.
  bool take_mark(std::string_view line, Origin origin) {
    if (!line.starts_with('#')) return false;
    const Marks::Mark mark = marks_.take(line);
    if (mark == Marks::Mark::kNone) return false;
    if (mark == Marks::Mark::kBadVersion) {
      status_ = worst(status_, Exit::kRejected);
      say_(format_error(job_.session.program,
                        {session_.file_name(origin.file()), origin.line()},
                        {std::string(kBadVersionText), 1}, line));
    }
    session_.set_emitted(marks_.open());
    replay_.reset();
    return true;
  }

  const EmitJob& job_;
  Writer& writer_;
  const std::function<void(std::string_view)>& say_;
  Session session_;
  Replay replay_;
  Marks marks_;
  Exit status_ = Exit::kDone;
  std::string out_;
};

}  // namespace

Exit emit(const EmitJob& job, Writer& writer,
          const std::function<void(std::string_view)>& say) {
  return Emitter(job, writer, say).run();
}

}  // namespace gt::emit
