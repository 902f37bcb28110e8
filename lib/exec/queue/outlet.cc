#include "exec/queue/outlet.h"

namespace gt::exec {

void Outlet::meet(uint64_t ticket, uint64_t seq) {
  held_.flush();
  saves_.push_back({ticket, seq, text_.size()});
}

void Outlet::let_out(uint64_t first_waiting) {
  held_.flush();
  while (!saves_.empty() && saves_.front().ticket < first_waiting) {
    saves_.pop_front();
  }
  const size_t n = saves_.empty() ? text_.size() : saves_.front().at;
  if (n > 0) {
    out_.write(std::string_view(text_).substr(0, n));
    text_.erase(0, n);
    for (Met& save : saves_) save.at -= n;
  }
  out_.flush();
}

}  // namespace gt::exec
