// Sets of names that had the values behind a value: those through which a
// history went that is gone now. A grad by such a name is an error if the name
// was bound again, since the loss depends on what it held before.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/shared.h"
#include "grad/ids.h"

namespace gt::grad {

// A symbol and the time since which it stands for its name (emit/symbols.h,
// Symbol::since). If that time is another one by now, so is the name.
struct NamedSince {
  SymbolId name = kNil;
  uint64_t since = 0;
  friend auto operator<=>(const NamedSince&, const NamedSince&) = default;
};

struct NameSet {
  std::vector<NamedSince> names;  // ascending, once NameSets has made the set
  bool is_unknown = false;        // there may be more names

  void add(const NameSet& other);
  bool has(const NamedSince& name) const;
  bool includes(const NameSet& other) const;
  friend bool operator==(const NameSet&, const NameSet&) = default;
};

// Makes sets of names. Values whose sets are equal mostly share one, so that a
// loop, whose names are the same in each round, takes no memory for them. A set
// that would be large is unknown instead, and so is any new set once all sets
// together are large.
class NameSets {
 public:
  static constexpr size_t kMostNames = 1024;  // of one set
  static constexpr size_t kMostTogether = size_t{1} << 22;

  // A set that counts in the size of all together while it exists.
  class Counted {
   public:
    Counted(NameSet set, std::shared_ptr<size_t> total)
        : set_(std::move(set)), total_(std::move(total)) {
      *total_ += set_.names.size();
    }
    Counted(Counted&& other) = default;
    ~Counted() {
      if (total_) *total_ -= set_.names.size();
    }
    const NameSet& operator*() const { return set_; }
    const NameSet* operator->() const { return &set_; }

   private:
    NameSet set_;
    std::shared_ptr<size_t> total_;
  };
  using Ref = Shared<Counted>;  // null: the empty set

  // Returns the set of these names, in any order, each any number of times.
  Ref of(NameSet names);
  const Ref& unknown() const { return unknown_; }

 private:
  static constexpr size_t kRecent = 256;

  std::shared_ptr<size_t> total_ = std::make_shared<size_t>(0);
  Ref unknown_{Counted({{}, true}, total_)};
  std::vector<Ref> recent_ = std::vector<Ref>(kRecent);  // by hash
};

}  // namespace gt::grad
