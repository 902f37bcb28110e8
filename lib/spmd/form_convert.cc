// Conversions: another type on the axis without communication.
#include "spmd/form_reader.h"

namespace gt {

Error FormReader::gated() const {
  return Error{"src=" + std::string(call_.key("src")) +
               " dst=" + std::string(call_.key("dst")) +
               " is rarely meant; if it is, say expert=1"};
}

Error FormReader::undefined(const std::string& instead) const {
  return Error{"src=" + std::string(call_.key("src")) +
               " dst=" + std::string(call_.key("dst")) +
               " cannot be known without communication; use " + instead};
}

Status FormReader::convert() {
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

Status FormReader::convert_known() {
  const char from = src_.letter;
  const char to = dst_.letter;
  if (is_one_of(from, "RI")) {
    if (is_one_of(to, "RI")) return is(Kind::kSame);
    if (to == 'P') return is(Kind::kFirst);
    return scatter(Kind::kScatter);
  }
  if (to == 'P') {
    return from == 'V' ? gather_slices(Kind::kOwnPlace)
                       : gather_chunks(Kind::kOwnPlace);
  }
  if (from == to) return is(Kind::kSame);
  return no_such_ends("ends that spmd-types knows");
}

Status FormReader::reinterpret() {
  const char from = src_.letter;
  const char to = dst_.letter;
  if (from == 'S' || to == 'S' || from == 'P' || (from == 'V' && to != 'P')) {
    return undefined(from == 'P'   ? "all_reduce"
                     : from == 'V' ? "all_gather"
                                   : "convert");
  }
  if (from == 'R' && !is_expert()) return gated();
  return is(Kind::kSame);
}

}  // namespace gt
