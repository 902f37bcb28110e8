#include "route/client_pipe.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "base/io.h"
#include "base/message.h"
#include "net/pulse.h"

namespace gt::route {
namespace {

// The most bytes of text of recognised rounds that are dispatched together.
constexpr size_t kMostRounds = size_t{2} << 20;
// Bytes of results written at a time.
constexpr size_t kMostOut = size_t{256} << 10;
// The most lines that read() dispatches before the loop looks at everything
// else.
constexpr int kLinesAtOnce = 4096;
constexpr size_t kLongLine = size_t{1} << 20;

}  // namespace

ClientPipe::ClientPipe(Client& client, Dispatcher& dispatcher,
                       std::vector<std::string> files, bool fail_fast)
    : client_(client),
      dispatcher_(dispatcher),
      input_(std::move(files)),
      fail_fast_(fail_fast) {}

void ClientPipe::add_to(net::Poller& poller, bool reads) const {
  if (reads && is_idle_) poller.add_fd(input_.fd());
  if (!out_.empty()) poller.add_fd(STDOUT_FILENO, true);
}

void ClientPipe::read(const std::function<bool()>& has_room, net::Host& host) {
  is_idle_ = false;
  has_ended_ = has_ended_ || has_stopped();
  std::string_view line;
  for (int n = 0; n < kLinesAtOnce; ++n) {
    if ((n & 63) == 0 && (has_ended_ || !has_room())) return;
    if (repeat_rounds() && !has_room()) return;
    const RouteInput::Item item = input_.next(line);
    if (!take(item, line, host)) return;
  }
}

// Takes an item of the input. Returns false if no more is to be read now.
bool ClientPipe::take(RouteInput::Item item, std::string_view line,
                      net::Host& host) {
  switch (item) {
    case RouteInput::Item::kPart:
      if (client_.marks.drops_part(line)) return true;
      [[fallthrough]];
    case RouteInput::Item::kLine: {
      const bool is_long = line.size() > kLongLine;
      std::optional<net::Pulse> pulse;
      if (is_long) pulse.emplace([&host] { host.beat(); });
      dispatcher_.line(client_, line, input_.number());
      has_ended_ = has_stopped();
      return !is_long && !has_ended_;
    }
    case RouteInput::Item::kTooLong:
      dispatcher_.reject(client_, line, std::string(kTooLongText),
                         input_.number());
      return true;
    case RouteInput::Item::kFile:
      dispatcher_.set_file(client_, input_.name());
      return true;
    case RouteInput::Item::kNothing:
      is_idle_ = true;
      return false;
    case RouteInput::Item::kError:
      has_unread_ = true;
      client_.worsen(Exit::kUsage);
      client_.say(
          format_error("gt-route", {input_.name(), 0}, {input_.why(), 0}, ""));
      return true;
    case RouteInput::Item::kEnd:
      break;
  }
  end_input();
  return false;
}

// Takes the recognised rounds that come next, as far as there is room for their
// results. Returns false if there were none.
bool ClientPipe::repeat_rounds() {
  const Round* round = dispatcher_.round();
  if (round == nullptr) return false;
  const uint64_t most =
      std::min(kMostRounds / round->text.size(),
               Client::kMostResults / std::max<uint64_t>(1, round->owed_bytes));
  const uint64_t times =
      input_.take(round->text, round->lines, std::max<uint64_t>(1, most));
  if (times > 0) dispatcher_.repeat(client_, times);
  return times > 0;
}

void ClientPipe::end_input() {
  has_ended_ = true;
  if (client_.marks.cut_short() || client_.marks.status() >= Exit::kLost) {
    dispatcher_.cut_saves(client_);
  }
  if (has_unread_) return;  // nothing is known of the input's end
  const std::string lost = cut_short_message(
      client_.marks, input_.has_empty_pipe(), input_.number());
  if (lost.empty()) return;
  client_.say(format_error("gt-route", {input_.name(), 0}, {lost, 0}, ""));
  client_.worsen(Exit::kLost);
}

Status ClientPipe::write(const IsDone& is_done, const ResultOrder::Sink& sink) {
  for (;;) {
    if (out_.empty()) out_ = std::exchange(client_.reports, {});
    if (out_.empty()) client_.users.emit(out_, kMostOut, is_done, sink);
    if (out_.empty()) return ok_status();
    const long n =
        write_ready(STDOUT_FILENO, std::string_view(out_).substr(written_));
    if (n >= 0) written_ += static_cast<size_t>(n);
    if (n >= 0) all_written_ += static_cast<uint64_t>(n);
    if (n >= 0 && written_ < out_.size()) return ok_status();
    out_.clear();
    written_ = 0;
    if (n < 0) return Error{std::strerror(errno)};
  }
}

}  // namespace gt::route
