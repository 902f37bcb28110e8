// What a line is apart from its names: the key of tables that know a line which
// was seen before under other names. Two lines of one pattern whose operands
// have equal types mean the same.
#pragma once

#include <array>
#include <string_view>
#include <vector>

namespace gt {

class Pattern {
 public:
  struct Name {
    std::string_view text;  // with its ranks, "x@0-3"
    std::string_view base;  // without them
  };

  // Takes a line apart. False for one that is not worth it: neither results nor
  // a free of names, other spacing than canonical, strings, remarks or, unless
  // allowed, names that begin with '_'. Keeps views into `line`.
  bool scan(std::string_view line, bool internal_names);

  // The line with its names left out, but not their ranks, and without #at=,
  // which says nothing of what a line does. Valid until the next scan.
  std::string_view key() const { return {key_.data(), key_size_}; }
  // In order, results first.
  const std::vector<Name>& names() const { return names_; }
  size_t results() const { return results_; }
  bool is_free() const { return results_ == 0; }
  bool is_placed() const { return is_placed_; }  // some name has ranks
  bool has_at() const { return has_at_; }

 private:
  static constexpr size_t kMaxLine = 512;

  struct Word;
  static Word take_word(const char* from, const char* end, char* key);
  static bool is_operand_name(const Word& word);
  bool take_name(const Word& word, bool internal_names);

  std::array<char, kMaxLine + 1> key_;
  size_t key_size_ = 0;
  std::vector<Name> names_;
  size_t results_ = 0;
  bool is_placed_ = false;
  bool has_at_ = false;
};

}  // namespace gt
