// The note #recompute: values that the backward computes again, so that they
// need not be kept for it (Chen et al., Training Deep Nets with Sublinear
// Memory Cost, 2016).
//
// A line with the note leaves a recipe of its result: the line, and the values
// that it read. When a name is bound again or freed while a gradient may still
// read what it held, an alias keeps the data (ledger.h). If there is a recipe,
// no alias is written: an internal name stands for the value, and in the stream
// nothing has that name. The first line of a backward that reads the value
// then gets the line of the recipe in front, which computes it under that name;
// and first what it reads, if that is gone as well.
//
// A run of lines with one note is a region: `#recompute`, or `#recompute=3`
// behind `#recompute=2`. What a region reads of others is kept, as a backward
// begins there. Within a region nothing is kept, so it ends after kMostLines
// lines: else a loop whose lines all have the note would be one region, whose
// recipes are needed for as long as the loop's last value.
//
// A recipe is of a line without ranks whose results have a history. A value has
// one as long as a user's name holds it, or a gradient may read it. When a grad
// consumes the history of a value that a name still holds, it loses its recipe:
// what the value was made of should not be kept any longer, and if a later line
// needs the value after all, an alias keeps it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "emit/symbols.h"
#include "grad/forms.h"
#include "grad/tape.h"

namespace gt::emit {

// The line that made a value, or several.
struct Recipe {
  grad::HeldForm form;            // the line, without its names
  std::vector<ValueId> operands;  // of the line; kNil for no tensor
  // The results; kNil for those that do not have the recipe, or no longer.
  std::vector<ValueId> results;
  uint64_t region = 0;
};

class Recipes {
 public:
  explicit Recipes(grad::Tape& tape) : tape_(tape) {}
  Recipes(const Recipes&) = delete;
  Recipes& operator=(const Recipes&) = delete;

  // To be called for each line that makes a value: with the value of its note
  // #recompute, or nothing.
  void begin_line(std::optional<std::string_view> note);
  // Adds the recipe of what the current line made. What the line reads is
  // needed from now on.
  void add(grad::HeldForm form, const std::vector<ValueId>& operands,
           std::vector<ValueId> results);
  // Takes its recipe from the value, if it has one. What only the recipe needs
  // is not needed any more.
  void remove(ValueId value);

  bool is_empty() const { return entries_.empty(); }
  // Returns null if the value has no recipe.
  const Recipe* find(ValueId value) const;
  // Returns how many lines of other regions read the value by their recipes;
  // its data must be kept for them.
  uint32_t readers(ValueId value) const { return entries_.at(value).readers; }
  // True if the value has a recipe, and nothing needs its data kept.
  bool may_drop(ValueId value) const;
  // Notes that no register has the value any more. is_dropped() then is true
  // until remove().
  void note_dropped(ValueId value) { entries_.at(value).is_dropped = true; }
  bool is_dropped(ValueId value) const;

  // Returns the number of the current region.
  uint64_t region() const { return region_; }
  // Return its note, or nothing if the last line had none; and how many lines
  // it has, or 0.
  const std::optional<std::string>& note() const { return note_; }
  uint64_t lines() const { return note_ ? lines_ : 0; }

 private:
  struct Entry {
    std::shared_ptr<Recipe> recipe;
    uint32_t readers = 0;
    bool is_dropped = false;
  };
  static constexpr uint64_t kMostLines = 10'000;

  bool is_of_other(ValueId value, uint64_t region) const;

  grad::Tape& tape_;
  std::unordered_map<ValueId, Entry> entries_;
  uint64_t region_ = 0;
  uint64_t lines_ = 0;  // of the region
  std::optional<std::string> note_;
};

}  // namespace gt::emit
