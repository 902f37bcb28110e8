// The input and the line number that an instruction was read from. Tables keep
// it for messages that come later.
#pragma once

#include <cstddef>
#include <cstdint>

namespace gt {

// A file and a line packed into one number, since millions are kept. `file` is
// the caller's own index of its inputs, `line` counts from 1.
class Origin {
 public:
  Origin() = default;
  Origin(uint32_t file, size_t line)
      : bits_((uint64_t{file} << kLineBits) | (line & kLineMask)) {}
  uint32_t file() const { return static_cast<uint32_t>(bits_ >> kLineBits); }
  size_t line() const { return bits_ & kLineMask; }
  // Moves it n lines down, as when a round of a loop is replayed (replay.h).
  void add_lines(size_t n) { bits_ += n; }
  friend bool operator==(const Origin&, const Origin&) = default;

 private:
  static constexpr int kLineBits = 48;
  static constexpr uint64_t kLineMask = (uint64_t{1} << kLineBits) - 1;
  uint64_t bits_ = 0;
};

}  // namespace gt
