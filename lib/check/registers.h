// What every name holds, by ranks. What a name holds is a number, so that a
// line's reads are compared at once.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "spmd/parts.h"
#include "stream/line.h"

namespace gt {

class CheckRegisters {
 public:
  // A name's parts, on ranks of their own, and the one of no ranks, which is
  // another name's; number 0 has none.
  using Content = uint32_t;
  struct Slot {
    Content content = 0;
  };

  Slot* slot(std::string_view name);  // kept until forget_dead()
  const std::vector<ShardedValue>& parts(Content content) const {
    return *contents_[content];
  }

  std::optional<ShardedValue> read(const Slot& slot,
                                   const std::vector<int64_t>& ranks,
                                   const AxisNames& names) const {
    return read_parts(parts(slot.content), ranks, names);
  }
  // The content with the value in place of what its ranks hold.
  Content with(Content content, const ShardedValue& value);
  // The same, of a copy of what the name holds on ranks `from`: a value that is
  // whole there is one value on all of its ranks then.
  Content with_copy(Content content, const std::vector<int64_t>& from,
                    const ShardedValue& copy, const AxisNames& names);
  Content without(Content content, const std::vector<int64_t>& ranks);

  void set(Slot* slot, Content content) {
    live_ += content != 0;
    live_ -= slot->content != 0;
    slot->content = content;
  }
  // Of all names that the glob matches; `leaves` is told what they held.
  void release(std::string_view glob,
               const std::function<void(Content)>& leaves);

  // Whether names and contents that nobody holds are many; then forget_dead()
  // lets go of them, and all pointers and numbers with them.
  bool is_large() const {
    return slots_.size() > 4 * live_ + kDead || contents_.size() > most_;
  }
  void forget_dead();

 private:
  static constexpr size_t kDead = size_t{1} << 14;
  static constexpr size_t kContents = size_t{1} << 16;

  size_t most_ = kContents;  // contents, before those that nobody holds go

  Content intern(std::vector<ShardedValue> parts);

  std::unordered_map<std::string, Slot, TextHash, std::equal_to<>> slots_;
  size_t live_ = 0;
  std::unordered_map<std::string, Content> by_text_;
  std::vector<std::unique_ptr<std::vector<ShardedValue>>> contents_ = first();
  static std::vector<std::unique_ptr<std::vector<ShardedValue>>> first();
};

}  // namespace gt
