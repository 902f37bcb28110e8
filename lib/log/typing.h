// What each line costs, out of the text alone. Works on any stream, and says of
// a line that cannot be typed that it cannot.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "program/line_cache.h"
#include "program/walker.h"

namespace gt::log {

struct Priced {
  std::string op;      // "" if the line cannot be parsed
  std::string signal;  // without quotes; "" if there is none
  bool typed = false;
  double bytes = 0;  // of operands and results, on all ranks
  double flops = 0;
};

class Typing {
 public:
  // The next instruction of the stream. Valid until the next call.
  const Priced& take(std::string_view text);

  // The type of a live name, or null; of a placed one, that of the first piece.
  const Type* type_of(const Name& name) const { return walker_.type_of(name); }

 private:
  struct Entry {
    std::string text;
    Priced priced;
    WalkedLine line;
    uint64_t version = 0;
  };

  void price(std::string_view text, Entry& entry);
  double bytes_of(const std::vector<WalkedPart>& parts) const;

  Walker walker_;
  LineCache<Entry> known_{size_t{1} << 12};
  Entry entry_;  // the last line, unless it was found
  Line line_;
};

}  // namespace gt::log
