// gt::Tensor, a value of the program. A tensor is a handle of a register: its
// copies are handles of the same register, and when the last of them is
// destroyed, the register is freed. The calls that wait for the program are
// item(), to_vector(), copy_to() and <<; all others only write lines.
#pragma once

#include <cinttypes>
#include <cstring>
#include <iosfwd>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gt/basic.h>
#include <gt/methods.h>
#include <gt/session.h>

namespace gt::inline v1 {

// A range of an axis, start:stop:step. Range::from(), to() and every() leave
// out the other parts; gt::_ is the whole axis.
class Range {
 public:
  constexpr Range() = default;
  constexpr Range(int64_t start, int64_t stop, int64_t step = 1)
      : start_(start), stop_(stop), step_(step), parts_(kBoth) {}
  static constexpr Range from(int64_t start, int64_t step = 1) {
    Range out(start, 0, step);
    out.parts_ = kStart;
    return out;
  }
  static constexpr Range to(int64_t stop, int64_t step = 1) {
    Range out(0, stop, step);
    out.parts_ = kStop;
    return out;
  }
  static constexpr Range every(int64_t step) {
    Range out(0, 0, step);
    out.parts_ = 0;
    return out;
  }
  std::string text() const {
    std::string out;
    if ((parts_ & kStart) != 0) out += std::to_string(start_);
    out += ":";
    if ((parts_ & kStop) != 0) out += std::to_string(stop_);
    if (step_ != 1) out += ":" + std::to_string(step_);
    return out;
  }

 private:
  static constexpr int kStart = 1;
  static constexpr int kStop = 2;
  static constexpr int kBoth = 3;
  int64_t start_ = 0;
  int64_t stop_ = 0;
  int64_t step_ = 1;
  int parts_ = 0;
};
inline constexpr Range _{};

class Part;

class Tensor : public Methods {
 public:
  Tensor() = default;  // holds nothing
  Tensor(const Tensor& other) : Methods(), value_(gt_retain(other.value_)) {}
  Tensor(Tensor&& other) noexcept
      : Methods(), value_(std::exchange(other.value_, nullptr)) {}
  Tensor& operator=(Tensor other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~Tensor() {
    if (value_ != nullptr) gt_release(value_);
  }

  // Returns a tensor that owns a value of gt/c.h from now on.
  static Tensor adopt(gt_value* value) {
    Tensor out;
    out.value_ = value;
    return out;
  }
  // Returns the value for the functions of gt/c.h; null if there is none.
  gt_value* raw() const { return value_; }

  // ---- type and name: these do not wait
  // True if the tensor has a register: false for Tensor() and after a move.
  bool defined() const { return value_ != nullptr; }
  Dtype dtype(At at = At::here()) const { return held(at).dtype; }
  Shape shape(At at = At::here()) const {
    const gt_type& type = held(at);
    return {type.sizes, type.sizes + type.rank};
  }
  Type type(At at = At::here()) const { return {shape(at), dtype(at)}; }
  int64_t rank(At at = At::here()) const { return held(at).rank; }
  // Returns the size of a dimension; a negative axis counts from the end.
  int64_t size(int64_t axis, At at = At::here()) const {
    const gt_type& type = held(at);
    if (axis < -type.rank || axis >= type.rank) {
      gt_set_error(GT_WRONG,
                   "size: no axis %" PRId64 " in a tensor of %d dimensions",
                   axis, type.rank);
      detail::fail(at);
    }
    return type.sizes[axis < 0 ? axis + type.rank : axis];
  }
  int64_t elements(At at = At::here()) const { return type(at).elements(); }
  // Returns the tensor's name in the stream; "" if it is undefined.
  std::string name() const { return value_ ? gt_name_of(value_) : ""; }
  // Renames the tensor. Logs and configs know it by this name.
  Tensor& name(const std::string& text, At at = At::here()) {
    held(at);
    detail::check(gt_rename(value_, text.c_str(), at), at);
    return *this;
  }

  // ---- values: these wait until the tensor is computed
  // Returns all elements, row-major, converted to T. A narrower float type
  // rounds; an integer type drops the fraction. Error: an integer type T does
  // not hold an element's value.
  template <typename T = float>
  std::vector<T> to_vector(At at = At::here()) const;
  // Returns the element of a tensor that has exactly one.
  template <typename T = float>
  T item(At at = At::here()) const;
  // Copies the elements in the form of gt/c.h, row-major and not converted, to
  // `bytes`, which has room for type().elements() of them.
  void copy_to(void* bytes, At at = At::here()) const {
    held(at);
    detail::check(gt_read(value_, bytes, at), at);
  }
  // Prints the tensor as a line once it is computed, under the name `as` if
  // that is not "". Does not wait; gt::sync() does.
  const Tensor& print(const std::string& as = "", At at = At::here()) const {
    held(at);
    detail::check(gt_print(value_, as.c_str(), at), at);
    return *this;
  }

  // ---- parts
  // Returns a part of the tensor: an index or a range for each axis, from the
  // first axis on: x(_, 0), x({0, 4}, _). An index drops its axis.
  Tensor operator()(const Part& a) const;
  Tensor operator()(const Part& a, const Part& b) const;
  Tensor operator()(const Part& a, const Part& b, const Part& c) const;
  Tensor operator()(const Part& a, const Part& b, const Part& c,
                    const Part& d) const;
  // Returns `size` elements along the axis, from index `start` on. `start` is a
  // number or a scalar tensor, whose value may differ in each round of a loop
  // while the line stays the same.
  Tensor slice(const Input& start, int64_t size, int64_t axis = 0,
               At at = At::here()) const;

  // ---- gradients
  // Says whether backward() computes the gradient by this tensor.
  Tensor& requires_grad_(bool is_on = true, At at = At::here()) {
    held(at);
    detail::check(gt_require_grad(value_, is_on), at);
    return *this;
  }
  bool requires_grad() const { return value_ && gt_requires_grad(value_); }
  // Computes the gradient of this scalar by all tensors that require one and
  // that it was computed from, and adds it to their grad(). The history is gone
  // then, unless `retain`.
  void backward(At at = At::here()) const { backward(false, at); }
  void backward(bool retain, At at = At::here()) const {
    held(at);
    detail::check(gt_backward(value_, retain, at), at);
  }
  // Returns the gradient; undefined before the first backward().
  Tensor grad() const {
    return value_ ? adopt(gt_retain(gt_gradient(value_))) : Tensor();
  }
  // Replaces the gradient by another of the tensor's type; an undefined one
  // removes it.
  void set_grad(Tensor gradient, At at = At::here()) {
    held(at);
    detail::check(gt_set_gradient(value_, gradient.value_), at);
    gradient.value_ = nullptr;  // the value owns it now
  }
  void zero_grad() {
    if (value_) gt_set_gradient(value_, nullptr);
  }

 private:
  Tensor part(std::initializer_list<const Part*> parts) const;
  [[noreturn, gnu::cold]] static void holds_nothing(At at) {
    gt_set_error(GT_WRONG, "a tensor that holds nothing");
    detail::fail(at);
  }
  const gt_type& held(At at) const {
    if (value_ == nullptr) holds_nothing(at);
    return *gt_type_of(value_);
  }

  gt_value* value_ = nullptr;
};

// A number that is an operand of an op.
struct Scalar {
  gt_word word{};

  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
  Scalar(T value) {  // NOLINT: implicit
    if constexpr (std::is_same_v<T, bool>) {
      word.kind = GT_TEXT;
      word.text = value ? "true" : "false";
      word.size = value ? 4 : 5;
    } else if constexpr (std::is_floating_point_v<T>) {
      word.kind = sizeof(T) == 4 ? GT_SINGLE : GT_NUMBER;
      word.number = static_cast<double>(value);
    } else if (std::is_unsigned_v<T> &&
               static_cast<uint64_t>(value) > uint64_t{INT64_MAX}) {
      word.kind = GT_UNSIGNED;  // no i64 holds it
      word.integer = static_cast<int64_t>(value);
    } else {
      word.kind = GT_INTEGER;
      word.integer = static_cast<int64_t>(value);
    }
  }
};

// An operand that is a tensor or a number. It records the place where it was
// made: operators have no argument for the place, and take it from here.
class Input {
 public:
  Input(const Tensor& tensor, At at = At::here())  // NOLINT: implicit
      : at_(at) {
    word_.kind = GT_VALUE;
    word_.value = tensor.raw();
  }
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
  Input(T value, At at = At::here())  // NOLINT: implicit
      : word_(Scalar(value).word), at_(at) {}

  const gt_word& word() const { return word_; }
  At at() const { return at_; }

 private:
  gt_word word_{};
  At at_;
};

namespace detail {

// Builds and writes one line. Its functions, which the functions of all ops
// call, are not inlined: that saves more of a program's compile time than the
// calls cost.
class Call {
 public:
  [[gnu::noinline]] Call(const char* op, At at) : at_(at) {
    line_.op = op;
    line_.at = at;
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  [[gnu::noinline]] ~Call() {
    if (words_ != few_) delete[] words_;
  }

  void add(const gt_word& word) { operand(word.kind) = word; }
  void add(const Input& input) { add(input.word()); }
  void add(const Tensor& tensor) { operand(GT_VALUE).value = tensor.raw(); }
  void add(const std::vector<Tensor>& tensors) {
    for (const Tensor& tensor : tensors) add(tensor);
  }
  // Adds a type operand. No op takes two, so one member holds it.
  void add(const Type& type) {
    type_ = type.raw();
    operand(GT_TYPE).type = &type_;
  }
  void add(Dtype dtype) { add_text(GT_TEXT, dtype.text()); }
  // Adds text, which must stay valid until the line is written.
  void add_text(gt_word_kind kind, std::string_view text) {
    set(operand(kind), text);
  }

  void key(const char* name, bool value) {
    key(name, GT_INTEGER).integer = value ? 1 : 0;
  }
  void key(const char* name, int64_t value) {
    key(name, GT_INTEGER).integer = value;
  }
  void key(const char* name, double value) {
    key(name, GT_NUMBER).number = value;
  }
  void key(const char* name, const List& value) {
    gt_word& word = key(name, GT_LIST);
    word.list = value.data();
    word.size = value.size();
  }
  void key(const char* name, std::string_view value) {
    set(key(name, GT_TEXT), value);
  }
  void key(const char* name, Dtype value) {
    set(key(name, GT_TEXT), value.text());
  }

  // Writes the line, and returns its only result.
  [[gnu::noinline]] Tensor run() {
    gt_value* result = nullptr;
    run(&result, 1);
    return Tensor::adopt(result);
  }
  // Writes the line, and returns its only result, which gets this name; "" lets
  // the session choose one.
  Tensor run_as(const std::string& name) {
    const char* const names[] = {name.c_str()};
    line_.names = names;
    return run();
  }
  // Writes the line, and returns its `count` results.
  std::vector<Tensor> run(size_t count) {
    std::vector<gt_value*> results(count);
    run(results.data(), count);
    std::vector<Tensor> out(count);
    for (size_t i = 0; i < count; ++i) out[i] = Tensor::adopt(results[i]);
    return out;
  }
  // Writes the line, and sets `results` to new values, which the caller owns.
  [[gnu::noinline]] void run(gt_value** results, size_t count) {
    line_.operands = words_;
    line_.keys = keys_;
    line_.result_count = count;
    check(gt_call(session(), &line_, results), at_);
  }
  // Writes the line, which binds the names of these values again to its
  // results. With a count of 0 the line has no results.
  void bind(gt_value* const* values, size_t count) {
    line_.into = values;
    run(nullptr, count);
  }

 private:
  static constexpr size_t kFew = 8;

  static void set(gt_word& word, std::string_view text) {
    word.text = text.data();
    word.size = text.size();
  }
  // Appends an operand of this kind, and returns it to be filled in.
  [[gnu::noinline]] gt_word& operand(gt_word_kind kind) {
    if (line_.operand_count == room_) grow();
    gt_word& word = words_[line_.operand_count++];
    word.kind = kind;
    return word;
  }
  [[gnu::cold]] void grow() {
    room_ *= 2;
    auto* const more = new gt_word[room_];
    std::memcpy(more, words_, line_.operand_count * sizeof *more);
    if (words_ != few_) delete[] words_;
    words_ = more;
  }
  // Appends a key, and returns its value to be filled in.
  [[gnu::noinline]] gt_word& key(const char* name, gt_word_kind kind) {
    if (line_.key_count == kFew) {
      gt_set_error(GT_WRONG, "%s: too many options", line_.op);
      fail(at_);
    }
    gt_key& next = keys_[line_.key_count++];
    next.name = name;
    next.value.kind = kind;
    return next.value;
  }
  // Returns the session of the first operand that is a tensor; if there is
  // none, the thread's current one.
  gt_session* session() const {
    for (size_t i = 0; i < line_.operand_count; ++i) {
      const gt_word& word = words_[i];
      if (word.kind == GT_VALUE && word.value != nullptr) {
        return gt_session_of(word.value);
      }
    }
    return current_session(at_);
  }

  gt_instruction line_{};
  gt_word few_[kFew];
  gt_key keys_[kFew];
  gt_word* words_ = few_;
  size_t room_ = kFew;
  gt_type type_{};
  At at_;
};

}  // namespace detail

// ---- parts ------------------------------------------------------------------

// What is taken of one axis: an index, a range, or an index that is a scalar
// tensor.
class Part {
 public:
  Part(const Range& range, At at = At::here())  // NOLINT: implicit
      : text_(range.text()), at_(at) {}
  Part(int64_t start, int64_t stop, At at = At::here())
      : Part(Range(start, stop), at) {}
  Part(int64_t start, int64_t stop, int64_t step, At at = At::here())
      : Part(Range(start, stop, step), at) {}
  template <typename T, typename = std::enable_if_t<std::is_integral_v<T>>>
  Part(T index, At at = At::here())  // NOLINT: implicit
      : text_(std::to_string(index)), at_(at) {}
  Part(const Tensor& index, At at = At::here())  // NOLINT: implicit
      : text_("0"), index_(&index), at_(at) {}

  // The part as a word of a slice line. An index() that is a tensor is taken
  // first, by a slice of its own of size 1, and the word is "0" then.
  const std::string& text() const { return text_; }
  const Tensor* index() const { return index_; }
  At at() const { return at_; }

 private:
  std::string text_;
  const Tensor* index_ = nullptr;
  At at_;
};

inline Tensor Tensor::operator()(const Part& a) const { return part({&a}); }
inline Tensor Tensor::operator()(const Part& a, const Part& b) const {
  return part({&a, &b});
}
inline Tensor Tensor::operator()(const Part& a, const Part& b,
                                 const Part& c) const {
  return part({&a, &b, &c});
}
inline Tensor Tensor::operator()(const Part& a, const Part& b, const Part& c,
                                 const Part& d) const {
  return part({&a, &b, &c, &d});
}

inline Tensor Tensor::part(std::initializer_list<const Part*> parts) const {
  const At at = (*parts.begin())->at();
  Tensor x = *this;
  int64_t axis = 0;
  for (const Part* part : parts) {
    if (part->index() != nullptr) x = x.slice(*part->index(), 1, axis, at);
    ++axis;
  }
  detail::Call call("slice", at);
  call.add(x);
  for (const Part* part : parts) call.add_text(GT_TEXT, part->text());
  return call.run();
}

inline Tensor Tensor::slice(const Input& start, int64_t size, int64_t axis,
                            At at) const {
  detail::Call call("slice", at);
  call.add(*this);
  call.add(start);
  call.key("axis", axis);
  call.key("size", size);
  return call.run();
}

// ---- tensors from memory ----------------------------------------------------

// Makes a tensor of this type from its elements in memory, row-major. They are
// copied before the call returns. `name` may be "".
inline Tensor from_blob(const void* bytes, const Type& type,
                        const std::string& name = "", At at = At::here()) {
  const gt_type raw = type.raw();
  gt_value* value =
      gt_write(current_session(at), &raw, bytes, name.c_str(), at);
  if (value == nullptr) detail::fail(at);
  return Tensor::adopt(value);
}
// Makes a tensor of these elements, row-major; without a shape it has one
// dimension. Error: the number of elements is not that of the shape.
template <typename T>
Tensor tensor(const std::vector<T>& values, const Shape& shape,
              At at = At::here()) {
  const Type type(shape, dtype_of<T>());
  if (type.elements() != static_cast<int64_t>(values.size())) {
    gt_set_error(GT_WRONG, "tensor: %s has %" PRId64 " elements, and got %zu",
                 type.text().c_str(), type.elements(), values.size());
    detail::fail(at);
  }
  if constexpr (std::is_same_v<T, bool>) {
    const std::vector<uint8_t> bytes(values.begin(), values.end());
    return from_blob(bytes.data(), type, "", at);
  } else {
    return from_blob(values.data(), type, "", at);
  }
}
// A list in braces is always a shape. Without this overload, {0} could also be
// taken as an At.
template <typename T>
Tensor tensor(const std::vector<T>& values,
              std::initializer_list<int64_t> shape, At at = At::here()) {
  return tensor(values, Shape(shape), at);
}
template <typename T>
Tensor tensor(const std::vector<T>& values, At at = At::here()) {
  return tensor(values, Shape{static_cast<int64_t>(values.size())}, at);
}
template <typename T>
Tensor tensor(std::initializer_list<T> values, At at = At::here()) {
  return tensor(std::vector<T>(values), at);
}
template <typename T>
Tensor tensor(std::initializer_list<T> values, const Shape& shape,
              At at = At::here()) {
  return tensor(std::vector<T>(values), shape, at);
}
template <typename T>
Tensor tensor(std::initializer_list<T> values,
              std::initializer_list<int64_t> shape, At at = At::here()) {
  return tensor(std::vector<T>(values), Shape(shape), at);
}
// Makes a scalar.
template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
Tensor tensor(T value, At at = At::here()) {
  return from_blob(&value, Type({}, dtype_of<T>()), "", at);
}

// ---- history ----------------------------------------------------------------

namespace detail {
inline std::string text_or_fail(const char* text, At at) {
  if (text == nullptr) fail(at);
  return text;
}
}  // namespace detail

// Returns the history behind a value, which backward() would walk, as lines of
// a program, the oldest first. Values that no longer have a name are called v0,
// v1 and so on.
inline std::string tape(const Tensor& x, At at = At::here()) {
  return detail::text_or_fail(gt_tape(x.raw()), at);
}
// Returns the same history as a graph, for dot of Graphviz.
inline std::string dot(const Tensor& x, At at = At::here()) {
  return detail::text_or_fail(gt_dot(x.raw()), at);
}

}  // namespace gt::inline v1
