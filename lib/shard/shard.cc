#include "shard/shard.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/message.h"
#include "base/reader.h"
#include "shard/partitioner.h"
#include "stream/marks.h"

namespace gt {
namespace {

class Sharder {
 public:
  Sharder(const ShardJob& job, const Config& config, Writer& writer,
          const ShardSay& say)
      : job_(job),
        config_(config),
        writer_(writer),
        say_(say),
        partitioner_(config, job.explain
                                 ? std::function<void(const std::string&)>(
                                       [this](const std::string& text) {
                                         explain(text);
                                       })
                                 : nullptr) {}

  Exit run() {
    writer_.write(std::string(kOpenMark) + "\n");
    std::vector<std::string> files = job_.files;
    if (files.empty()) files.emplace_back("-");
    for (const std::string& file : files) {
      if (!run_file(file)) break;
    }
    for (const std::string& unused : config_.unused()) {
      say_("gt-shard: " + unused + "\n");
    }
    if (job_.explain || job_.summary) say_(summary());
    writer_.write(end_mark(status_) + "\n");
    writer_.flush();
    return status_;
  }

 private:
  bool fail_io(const std::string& file, int error) {
    status_ = worst(status_, Exit::kUsage);
    say_("gt-shard: cannot read " + file + ": " + std::strerror(error) + "\n");
    return false;
  }

  bool run_file(const std::string& file) {
    const bool is_stdin = file == "-";
    file_ = is_stdin ? "<stdin>" : file;
    const int fd =
        is_stdin ? STDIN_FILENO : ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return fail_io(file_, errno);
    const bool ok = run_lines(fd);
    if (!is_stdin) ::close(fd);
    return ok;
  }

  bool run_lines(int fd) {
    Reader reader(fd, [this] { writer_.flush(); });
    Marks marks;
    number_ = 0;
    std::string_view line;
    std::string out;
    while (writer_.ok()) {
      const Reader::Item item = reader.next(line);
      if (item == Reader::Item::kEnd) break;
      if (item == Reader::Item::kError) {
        return fail_io(file_, reader.errno_value());
      }
      ++number_;
      if (line.starts_with('#')) {
        const Marks::Mark mark = marks.take(line);
        if (mark == Marks::Mark::kBadVersion) {
          reject({"this stream is of a version that this program does not "
                  "read; it reads '#gt 1'",
                  1},
                 line);
        }
        if (mark != Marks::Mark::kNone) continue;
      }
      if (item == Reader::Item::kTooLong) {
        reject({"a line of over 64 MiB", 0}, line);
        continue;
      }
      out.clear();
      line_ = line;
      const Status done = partitioner_.take(line, out);
      if (!done.ok()) reject(done.error(), line);
      writer_.write(out);
    }
    status_ = worst(status_, marks.status());
    if (marks.cut_short() && writer_.ok()) {
      status_ = worst(status_, Exit::kLost);
      say_("gt-shard: " + file_ + ": " + cut_short_message(number_) + "\n");
    }
    return writer_.ok();
  }

  void reject(const Error& error, std::string_view line) {
    status_ = worst(status_, Exit::kRejected);
    say_(format_error("gt-shard", {file_, number_}, error, line));
  }

  void explain(const std::string& text) {
    say_(file_ + ":" + std::to_string(number_) + ": " + text);
  }

  std::string summary() const {
    const ShardCosts& costs = partitioner_.costs();
    char line[160];
    std::string out;
    for (const auto& [op, traffic] : costs.traffic) {
      std::snprintf(line, sizeof line,
                    "gt-shard: %s: %llu lines, %.6g MB from each rank\n",
                    op.c_str(), static_cast<unsigned long long>(traffic.lines),
                    traffic.bytes / 1e6);
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
  Exit status_ = Exit::kDone;
  std::string file_;
  size_t number_ = 0;
  std::string_view line_;
};

}  // namespace

Exit shard(const ShardJob& job, const Config& config, Writer& writer,
           const ShardSay& say) {
  return Sharder(job, config, writer, say).run();
}

}  // namespace gt
