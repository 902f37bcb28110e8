#include "emit/emitter.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

#include "base/io.h"
#include "base/message.h"
#include "emit/program_run.h"
#include "stream/marks.h"

namespace gt::emit {
namespace {

constexpr size_t kMostRepeated = size_t{1} << 30;

class Emitter {
 public:
  Emitter(const EmitJob& job, Writer& writer,
          const std::function<void(std::string_view)>& say)
      : job_(job),
        writer_(writer),
        program_(
            {job.session, job.replay, {}},
            [&writer](std::string_view lines, uint64_t /*cost*/) {
              writer.write(lines);
              return writer.ok();
            },
            say) {}

  Exit run() {
    if (!job_.session.tape) write_mark(kOpenMark);
    for (const EmitInput& input : job_.inputs) {
      if (!run_input(input) || program_.has_stopped()) break;
    }
    const Exit status = program_.finish();
    if (!job_.session.tape) write_mark(end_mark(status));
    writer_.flush();
    return status;
  }

 private:
  void write_mark(std::string_view mark) {
    writer_.write(mark);
    writer_.write("\n");
  }

  std::unique_ptr<Source> open(const EmitInput& input) {
    if (input.kind == EmitInput::Kind::kText) {
      return std::make_unique<TextSource>(input.text, 1);
    }
    if (input.rounds != 1) return open_repeated(input);
    const bool is_stdin = input.kind == EmitInput::Kind::kStdin;
    const auto idle = [this] { writer_.flush(); };
    auto source = open_source(is_stdin ? "-" : input.text, idle);
    if (source == nullptr) program_.fail_input(input.text, errno);
    return source;
  }

  // Opens an input that is fed more than once, whose text must be kept.
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
    program_.fail_input(is_stdin ? kStdinName : input.text, error);
    return nullptr;
  }

  bool run_input(const EmitInput& input) {
    const bool is_file = input.kind == EmitInput::Kind::kFile;
    const std::string name = is_file ? input.text
                             : input.kind == EmitInput::Kind::kText
                                 ? std::string("-e")
                                 : std::string(kStdinName);
    program_.begin_input(name, job_.session.at && (is_file || job_.at_stdin));
    const std::unique_ptr<Source> source = open(input);
    if (source == nullptr || !program_.feed(*source)) return false;
    program_.end_input(source->is_empty_pipe(), source->line());
    return true;
  }

  const EmitJob& job_;
  Writer& writer_;
  ProgramRun program_;
};

}  // namespace

Exit emit(const EmitJob& job, Writer& writer,
          const std::function<void(std::string_view)>& say) {
  return Emitter(job, writer, say).run();
}

}  // namespace gt::emit
