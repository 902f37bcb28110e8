// Names: the names of a session's registers. Values without a name of their own
// are called t0, t1 and so on. A name that is given back can be used by the
// next line, and the smallest free number is used first, so that each round of
// a loop has the same names. If the next line binds such a name again, no
// "free" is written for it: the binding releases the old value.
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "base/number_pool.h"
#include "base/result.h"
#include "client/where.h"

namespace gt::client {

class Names {
 public:
  static constexpr uint32_t kChosen = UINT32_MAX;  // the user chose the name

  struct Name {
    std::string text;
    uint32_t number = kChosen;
    bool is_reused = false;  // a name of ours that another value had before
  };

  // Returns a name of ours, for a result of the next line.
  Name take() {
    const size_t never_taken = numbers_.never_taken();
    const auto number = static_cast<uint32_t>(numbers_.take());
    std::erase(dead_, number);  // the line binds it again, so it is not freed
    return {text_of(number), number, number < never_taken};
  }
  // Takes a name that the user chose for a value made at `at`. Errors: it is no
  // name, it has the form of our names, or another value has it; the error
  // names the place where that one was made.
  Result<Name> take(std::string_view chosen, const Where& at);
  // True if lines written by gt_line() must not bind or free the name: it has
  // the form of our names, or a value of the session has it.
  bool is_kept(std::string_view name) const;
  // True if is_kept() may hold for a name that matches the pattern, as "act/*".
  bool keeps_any(std::string_view glob) const;
  // The value of that name is gone: the name can be used again.
  void give(const Name& name) {
    if (name.number != kChosen) {
      numbers_.give(name.number);
      dead_.push_back(name.number);
    } else {
      chosen_.erase(name.text);
      dead_chosen_.push_back(name.text);
    }
  }
  // Appends "free t1 t2
  // ", for the names that were given back and not taken again.
  void append_free(std::string& out);

 private:
  static std::string text_of(uint32_t number) {
    char text[16] = {'t'};
    return {text, std::to_chars(text + 1, std::end(text), number).ptr};
  }

  NumberPool numbers_;
  std::vector<uint32_t> dead_;  // given back and not yet freed
  std::vector<std::string> dead_chosen_;
  // The names that users chose, and the place where each value was made.
  std::unordered_map<std::string, std::string, TextHash, std::equal_to<>>
      chosen_;
};

}  // namespace gt::client
