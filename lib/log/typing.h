// The types of a stream's names, and from them what each line costs, by the
// text alone. It takes any stream and follows it with a Walker
// (program/walker.h), which infers types by the op table as gt-emit and the
// workers do; types in notes are not read. Lines that come again are looked up.
// A line whose operands have no known type, or do not go together, is said to
// be untyped.
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
  bool typed = false;  // else what follows is 0
  double bytes = 0;    // of operands and results, on all ranks
  double flops = 0;    // on all ranks
};

class Typing {
 public:
  // Takes the next instruction of the stream, and binds its results. The
  // reference is valid until the next call.
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
