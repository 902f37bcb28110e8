// Conversions: another type on the axis without communication.
#include "spmd/group_writer.h"

namespace gt {

Error GroupWriter::gated() const {
  return Error{"src=" + std::string(call_.key("src")) +
               " dst=" + std::string(call_.key("dst")) +
               " is rarely meant; if it is, say expert=1"};
}

Error GroupWriter::undefined(const std::string& instead) const {
  return Error{"src=" + std::string(call_.key("src")) +
               " dst=" + std::string(call_.key("dst")) +
               " cannot be known without communication; use " + instead};
}

Status GroupWriter::convert() {
  const char from = src_.letter;
  const char to = dst_.letter;
  if (from == 'P')
    return undefined(to == 'V' || to == 'S' ? "reduce_scatter" : "all_reduce");
  if (is_one_of(from, "VS") && is_one_of(to, "RI")) {
    return undefined("all_gather");
  }
  if (from == 'S' && to == 'S') return undefined("all_to_all");
  const bool is_gated = (from == 'R' && to == 'I') ||
                        (from == 'I' && to == 'P') ||
                        (is_one_of(from, "VS") && to == 'P');
  if (is_gated && !is_expert()) return gated();
  return convert_known();
}

Status GroupWriter::convert_known() {
  const char from = src_.letter;
  const char to = dst_.letter;
  if (is_one_of(from, "RI")) {
    if (is_one_of(to, "RI")) return same();
    if (to == 'P') return first_only();
    return scatter([](size_t i) { return piece(i); });
  }
  if (to == 'P') return from == 'V' ? own_slice() : own_chunk();
  if (from == to) return same();
  return no_such_ends("ends that spmd-types knows");
}

Status GroupWriter::first_only() {
  for (size_t i = 0; i < n_; ++i) {
    line(result(i) + (i == 0 ? " = copy " + piece(0)
                             : " = zeros " + to_string(group_.pieces[i])));
  }
  return ok_status();
}

Status GroupWriter::own_slice() {
  if (Status s = need_alike(); !s.ok()) return s;
  const auto d = stacked("gather_dim", rank() + 1);
  if (!d.ok()) return d.error();
  for (size_t i = 0; i < n_; ++i) {
    const std::string part = fresh();
    line(part + " = unsqueeze " + piece(i) +
         " axis=" + std::to_string(d.value()));
    pad(i, part, rank() + 1, d.value(), static_cast<int64_t>(i),
        static_cast<int64_t>(n_ - 1 - i));
  }
  return ok_status();
}

Status GroupWriter::own_chunk() {
  const auto d = dimension(src_.dim, rank());
  if (!d.ok()) return d.error();
  if (Status s = check_gathered(d.value()); !s.ok()) return s;
  int64_t all = 0;
  for (const Type& t : group_.pieces) all += t.shape[d.value()];
  int64_t before = 0;
  for (size_t i = 0; i < n_; ++i) {
    const int64_t own = group_.pieces[i].shape[d.value()];
    pad(i, piece(i), rank(), d.value(), before, all - before - own);
    before += own;
  }
  return ok_status();
}

void GroupWriter::pad(size_t i, const std::string& value, size_t dims, size_t d,
                      int64_t before, int64_t after) {
  std::vector<int64_t> width(2 * dims, 0);
  width[2 * d] = before;
  width[2 * d + 1] = after;
  line(result(i) + " = pad " + value + " width=" + list_text(width));
}

Status GroupWriter::reinterpret() {
  const char from = src_.letter;
  const char to = dst_.letter;
  if (from == 'S' || to == 'S' || from == 'P' || (from == 'V' && to != 'P')) {
    return undefined(from == 'P'   ? "all_reduce"
                     : from == 'V' ? "all_gather"
                                   : "convert");
  }
  if (from == 'R' && !is_expert()) return gated();
  return same();
}

}  // namespace gt
