// The pattern of a line: its text with the names left out. Two lines of one
// pattern whose operands have equal types do the same under other names, so a
// table keyed by patterns finds what was derived from the first of them (emit's
// memos).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace gt {

class Pattern {
 public:
  struct Name {
    std::string_view text;  // with its ranks, "x@0-3"
    std::string_view base;  // without its ranks, "x"
  };

  // Splits a line, and keeps views into it. Returns false if the line is not of
  // the common form and must be parsed in full. A line of the common form has
  // results or is a free of names; it has single blanks, no strings, no remark,
  // at most kMaxLine bytes; and, unless `internal_names`, no name that begins
  // with '_', as a filter's own names do.
  bool scan(std::string_view line, bool internal_names);

  // Returns the line with the names left out, but not their ranks, and without
  // the note #at=, which changes nothing of what a line does. Valid until the
  // next scan.
  std::string_view key() const { return {key_.data(), key_size_}; }
  uint64_t key_hash() const { return key_hash_; }  // by hash_bytes()
  // Returns the names in the order of the line, results first.
  const std::vector<Name>& names() const { return names_; }
  size_t results() const { return results_; }  // how many of them are results
  bool is_free() const { return results_ == 0; }
  bool is_placed() const { return is_placed_; }  // some name has ranks
  bool has_at() const { return has_at_; }        // it has a note #at=

 private:
  static constexpr size_t kMaxLine = 512;  // bytes

  struct Word;
  static Word take_word(const char* from, const char* end, char* key);
  static bool is_operand_name(const Word& word);
  bool take_name(const Word& word, bool internal_names);

  std::array<char, kMaxLine + 1> key_;
  size_t key_size_ = 0;
  uint64_t key_hash_ = 0;
  std::vector<Name> names_;
  size_t results_ = 0;
  bool is_placed_ = false;
  bool has_at_ = false;
};

}  // namespace gt
