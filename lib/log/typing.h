// Typing: finds the types of a stream's names, and from them what each line
// costs, from the text alone. It takes any stream and follows it with a Walker
// (program/walker.h), which infers types by the op table as gt-emit and the
// workers do; types in notes are not read. Lines that come again are looked up.
// A line is untyped if its operands have no known types, or if these do not fit
// together.
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
  bool typed = false;  // false: bytes and flops are 0
  double bytes = 0;    // size of operands and results, on all ranks
  double flops = 0;    // on all ranks
};

class Typing {
 public:
  // Takes the next instruction of the stream, and binds its results. The
  // reference is valid until the next call.
  const Priced& take(std::string_view text);

  // Returns the type of a live name, or null; for a placed name, the type of
  // its first piece.
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
  Entry entry_;  // the last line, if it was not known
  Line line_;
};

}  // namespace gt::log
