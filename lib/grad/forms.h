// The form of a line of a history: all of the line except the values that it
// reads and makes. A loop makes lines of the same few forms again and again, so
// each distinct form is kept once (hash-consing; Ershov, 1958), under a number,
// for as long as something holds it: each node does, and each HeldForm. Two
// forms are equal if all of their members are: the text of the line without its
// names, its notes, its types and so on. The text is parsed when a gradient
// first needs the form's line, so that the many lines which no gradient reaches
// cost their text alone.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/small_vector.h"
#include "grad/ids.h"
#include "grad/value_types.h"
#include "ops/op.h"
#include "stream/line.h"

namespace gt::grad {

using FormId = uint32_t;

struct Form {
  const Op* op = nullptr;
  std::string line;       // without its names, "r = matmul x x ta=1"
  std::string notes;      // for its gradient lines, " #signal=... #mb=..."
  std::string shown;      // the line with its names, for --tape; else ""
  MeshId mesh = 0;        // of a placed line
  uint32_t file = 0;      // the file that such lines are in, see Origin
  uint32_t operands = 0;  // their number, tensors or not
  // The results' types, and which of them hold floats (1).
  SmallVector<TypeId, 2> types;
  SmallVector<uint8_t, 8> differentiable;  // 1: it holds floats
  // Indices of the operands and results whose data the gradient reads.
  SmallVector<uint32_t, 2> needed_operands;
  SmallVector<uint32_t, 2> needed_results;
};

class Forms {
 public:
  // Returns the number of an equal form, with the caller as one more holder.
  FormId obtain(Form form);
  void hold(FormId id) { ++forms_[id].holders; }
  void drop(FormId id);

  const Form& operator[](FormId id) const { return forms_[id].form; }
  // Returns the form's line, parsed; valid as long as the form is held.
  const Line& parsed(FormId id) const;
  // Returns a bound: ids are below it. A form without holders has no op.
  size_t limit() const { return forms_.size(); }

 private:
  struct Held {
    Form form;
    uint64_t hash = 0;
    uint32_t holders = 0;
    mutable Line parsed = {};  // empty until it is asked for
  };

  std::deque<Held> forms_;
  std::vector<FormId> free_;
  std::unordered_multimap<uint64_t, FormId> by_hash_;
};

// Holds a form, or none, and drops it when it is destroyed.
class HeldForm {
 public:
  HeldForm() = default;
  // Takes over the hold that obtain() or hold() gave.
  HeldForm(Forms& forms, FormId id) : forms_(&forms), id_(id) {}
  HeldForm(HeldForm&& other) noexcept
      : forms_(other.forms_), id_(std::exchange(other.id_, kNil)) {}
  HeldForm& operator=(HeldForm&& other) noexcept {
    std::swap(forms_, other.forms_);
    std::swap(id_, other.id_);
    return *this;
  }
  ~HeldForm() {
    if (id_ != kNil) forms_->drop(id_);
  }
  FormId id() const { return id_; }  // kNil: none
  HeldForm share() const {
    if (id_ == kNil) return {};
    forms_->hold(id_);
    return {*forms_, id_};
  }

 private:
  Forms* forms_ = nullptr;
  FormId id_ = kNil;
};

}  // namespace gt::grad
