#include "ops/ends.h"

#include <algorithm>

#include "base/message.h"
#include "base/text.h"
#include "ops/call.h"

namespace gt {
namespace {

// The pairs of ends that an op connects, as words: "PV>RI" connects each letter
// on the left to each on the right.
struct Connections {
  std::string_view op;
  std::string_view pairs;
  std::string_view gated;
  bool converts;  // it states the type anew, or leaves it as it is
};

constexpr std::string_view kAll = "RIVPS>RIVPS";

// If two ops connect a pair, the one that is usually meant comes first.
constexpr Connections kConnections[] = {
    {"all_gather", "VS>RI", "", false},
    {"all_reduce", "PV>RI", "", false},
    {"reduce_scatter", "PV>VS", "", false},
    {"all_to_all", "V>V S>S", "", false},
    {"convert", "I>R RI>VS R>P", "R>I I>P VS>P", true},
    {"reinterpret", "V>P I>VP", "R>VPI I>R", true},
    {"redistribute", kAll, "", true},
    {"retype", kAll, "", false},
};

const Connections* connections_of(const Op& op) {
  const auto* found =
      std::find_if(std::begin(kConnections), std::end(kConnections),
                   [&](const Connections& c) { return op.name == c.op; });
  return found == std::end(kConnections) ? nullptr : found;
}

// Calls f(left, right) for each word until one call returns true.
template <typename F>
bool any_word(std::string_view pairs, F f) {
  while (!pairs.empty()) {
    const std::string_view word = pairs.substr(0, pairs.find(' '));
    pairs.remove_prefix(std::min(word.size() + 1, pairs.size()));
    const size_t at = word.find('>');
    if (f(word.substr(0, at), word.substr(at + 1))) return true;
  }
  return false;
}

bool connects(std::string_view pairs, const End& src, const End& dst) {
  return any_word(pairs, [&](std::string_view from, std::string_view to) {
    return from.find(src.letter) != from.npos && to.find(dst.letter) != to.npos;
  });
}

bool is_own_piece(const End& end) {
  return end.letter == 'V' || end.letter == 'S';
}

// Returns "R or I". `index` is that of an S: 'j' for the second S in "Si to
// Sj".
std::string alternatives(std::string_view letters, char index) {
  std::string text;
  for (const char letter : letters) {
    text += (text.empty() ? "" : " or ") + std::string(1, letter);
    if (letter == 'S') text += index;
  }
  return text;
}

}  // namespace

Result<End> parse_end(std::string_view text) {
  if (text.size() == 1 &&
      std::string_view("RIVP").find(text[0]) != std::string_view::npos) {
    return End{text[0], 0};
  }
  End end{'S', 0};
  if (text.starts_with('S') && read_number(text.substr(1), end.dim)) return end;
  return Error{"'" + excerpt(text) + "' is none of R, I, V, P, S0, S1, S-1"};
}

bool is_same_end(const End& a, const End& b, size_t dims) {
  return a.letter == b.letter &&
         (a.letter != 'S' ||
          normal_axis(a.dim, dims) == normal_axis(b.dim, dims));
}

bool keeps_pieces(const End& src, const End& dst, size_t dims) {
  return is_same_end(src, dst, dims) ||
         (is_own_piece(src) && is_own_piece(dst) && src.letter != dst.letter);
}

EndsUse use_of_ends(const Op& op, const End& src, const End& dst, size_t dims) {
  const Connections* of = connections_of(op);
  if (of == nullptr) return EndsUse::kConnected;
  if (of->converts && keeps_pieces(src, dst, dims)) return EndsUse::kKept;
  if (connects(of->pairs, src, dst)) return EndsUse::kConnected;
  if (connects(of->gated, src, dst)) return EndsUse::kGated;
  return of->converts ? EndsUse::kUndefined : EndsUse::kForeign;
}

std::string connected_ends(const Op& op) {
  std::string text;
  const Connections* of = connections_of(op);
  if (of == nullptr) return text;
  any_word(of->pairs, [&](std::string_view from, std::string_view to) {
    const char other = from == to ? 'j' : 'i';
    text += (text.empty() ? "" : ", or ") + alternatives(from, 'i') + " to " +
            alternatives(to, other);
    return false;
  });
  return text;
}

std::string_view op_between(const End& src, const End& dst) {
  for (const Connections& c : kConnections) {
    if (connects(c.pairs, src, dst) || connects(c.gated, src, dst)) return c.op;
  }
  return {};
}

}  // namespace gt
