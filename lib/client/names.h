// The registers of a session: t0, t1 and so on for values without a name of
// their own. A name that is given back is free at the next line, and the
// smallest free number comes first, so that the rounds of a loop have the same
// names. A name that the next line binds again needs no free of its own: the
// binding releases what it held.
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
    bool is_reused = false;  // one of ours, which another value had before
  };

  // A name of ours, for a result of the line that comes next.
  Name take() {
    const size_t never_taken = numbers_.never_taken();
    const auto number = static_cast<uint32_t>(numbers_.take());
    std::erase(dead_, number);  // the line binds it again
    return {text_of(number), number, number < never_taken};
  }
  // A name that the user chose. Errors: it is none, is of the form of ours, or
  // another value has it, which was made at the place that the error names.
  Result<Name> take(std::string_view chosen, const Where& at);
  // Whether values of the session alone may have the name: it is of the form of
  // ours, or one of them has it.
  bool is_kept(std::string_view name) const;
  // The same of any name of a pattern, "act/*".
  bool keeps_any(std::string_view glob) const;
  // The value of that name is gone.
  void give(const Name& name) {
    if (name.number != kChosen) {
      numbers_.give(name.number);
      dead_.push_back(name.number);
    } else {
      chosen_.erase(name.text);
      dead_chosen_.push_back(name.text);
    }
  }
  // Appends "free t1 t2\n", of those that were given back and not bound again.
  void append_free(std::string& out);

 private:
  static std::string text_of(uint32_t number) {
    char text[16] = {'t'};
    return {text, std::to_chars(text + 1, std::end(text), number).ptr};
  }

  NumberPool numbers_;
  std::vector<uint32_t> dead_;  // given back, and not yet freed
  std::vector<std::string> dead_chosen_;
  // The names that users chose, and where.
  std::unordered_map<std::string, std::string, TextHash, std::equal_to<>>
      chosen_;
};

}  // namespace gt::client
