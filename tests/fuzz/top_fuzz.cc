// Takes any bytes as what a gt-route sends to gt-top: the state is read, its
// tables are drawn in several sizes and written, and the text for Prometheus is
// made. No line of the screen is longer than the screen, or anything but text.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/printable.h"
#include "net/watcher.h"
#include "target.h"
#include "top/batch.h"
#include "top/metrics.h"
#include "top/model.h"
#include "top/screen.h"

namespace {

void check_screen(const gt::top::Model& model) {
  gt::top::Screen screen;
  screen.show(model);
  for (const auto key : {gt::top::Key::kRight, gt::top::Key::kTab,
                         gt::top::Key::kDown, gt::top::Key::kTab}) {
    for (const size_t columns : {1, 7, 60, 200}) {
      for (const auto& line : screen.draw(24, columns)) {
        if (gt::columns_of(line.text) > columns) std::abort();
        if (gt::printable(line.text) != line.text) std::abort();
      }
    }
    (void)screen.take(key);
  }
}

void take_state(gt::top::Model& model, std::string_view text) {
  auto read = gt::top::read_snapshot(text);
  if (!read.ok()) return;
  (void)gt::top::metrics_text(read.value(), false);
  model.take(std::move(read.value()));
  (void)gt::top::batch_rows(model, 0);
  check_screen(model);
}

}  // namespace

GT_FUZZ_TARGET(top) {
  std::string_view bytes(reinterpret_cast<const char*>(data), size);
  gt::top::Model model;
  // The bytes are states, one after the other, between lines "===".
  constexpr std::string_view kNext = "===\n";
  for (std::string_view rest = bytes; !rest.empty();) {
    const std::string_view text = rest.substr(0, rest.find(kNext));
    take_state(model, text);
    rest.remove_prefix(text.size() == rest.size() ? rest.size()
                                                  : text.size() + kNext.size());
  }
  // They are also a message.
  gt::net::WatcherState watcher({}, 0);
  watcher.link_up(0);
  watcher.receive(gt::net::Frame(std::string(bytes)), 1);
  gt::net::WatchEvent event;
  while (watcher.next(event)) {
  }
  return 0;
}
