// gt::Tensor: a register of the program. A tensor is a handle: a copy of it is
// the same register, and when the last one goes out of scope, the register is
// freed. No call on tensors waits for the program, but item(), to_vector(),
// copy_to() and <<.
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

// start:stop:step of an axis, with what is left out; _ is all of it.
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

  // Owns a value of gt/c.h from now on.
  static Tensor adopt(gt_value* value) {
    Tensor out;
    out.value_ = value;
    return out;
  }
  gt_value* raw() const { return value_; }

  // ---- what is known of it
  bool defined() const { return value_ != nullptr; }
  Dtype dtype(At at = At::here()) const { return held(at).dtype; }
  Shape shape(At at = At::here()) const {
    const gt_type& type = held(at);
    return {type.sizes, type.sizes + type.rank};
  }
  Type type(At at = At::here()) const { return {shape(at), dtype(at)}; }
  int64_t rank(At at = At::here()) const { return held(at).rank; }
  // The size of a dimension; a negative axis counts from the end.
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
  // Its name in the stream.
  std::string name() const { return value_ ? gt_name_of(value_) : ""; }
  // Gives it a name that the stream, its log and its configs then have.
  Tensor& name(const std::string& text, At at = At::here()) {
    held(at);
    detail::check(gt_rename(value_, text.c_str(), at), at);
    return *this;
  }

  // ---- its values: these wait for them
  // All elements, row-major, as T. T may be narrower than the dtype: a float is
  // rounded, and to an integer loses its fraction. Error: a value that an
  // integer T does not hold.
  template <typename T = float>
  std::vector<T> to_vector(At at = At::here()) const;
  // The one element of a tensor that has one.
  template <typename T = float>
  T item(At at = At::here()) const;
  // The elements as they are in memory (gt/c.h), type().elements() of them.
  void copy_to(void* bytes, At at = At::here()) const {
    held(at);
    detail::check(gt_read(value_, bytes, at), at);
  }
  // Prints it as a line when it is there, which may be later; gt::sync() waits
  // for that.
  const Tensor& print(const std::string& as = "", At at = At::here()) const {
    held(at);
    detail::check(gt_print(value_, as.c_str(), at), at);
    return *this;
  }

  // ---- parts
  // An index or a range for each axis, the first ones first: x(_, 0),
  // x({0, 4}, _). An index drops its axis.
  Tensor operator()(const Part& a) const;
  Tensor operator()(const Part& a, const Part& b) const;
  Tensor operator()(const Part& a, const Part& b, const Part& c) const;
  Tensor operator()(const Part& a, const Part& b, const Part& c,
                    const Part& d) const;
  // `size` elements along the axis from `start` on, a number or the name of a
  // scalar, which may change from round to round.
  Tensor slice(const Input& start, int64_t size, int64_t axis = 0,
               At at = At::here()) const;

  // ---- gradients
  Tensor& requires_grad_(bool is_on = true, At at = At::here()) {
    held(at);
    detail::check(gt_require_grad(value_, is_on), at);
    return *this;
  }
  bool requires_grad() const { return value_ && gt_requires_grad(value_); }
  // Adds to grad() of all tensors that require a gradient and that this scalar
  // was computed from.
  void backward(At at = At::here()) const { backward(false, at); }
  void backward(bool retain, At at = At::here()) const {
    held(at);
    detail::check(gt_backward(value_, retain, at), at);
  }
  // Undefined before the first backward().
  Tensor grad() const {
    return value_ ? adopt(gt_retain(gt_gradient(value_))) : Tensor();
  }
  // Its type is the tensor's; one that is undefined is none.
  void set_grad(Tensor gradient, At at = At::here()) {
    held(at);
    detail::check(gt_set_gradient(value_, gradient.value_), at);
    gradient.value_ = nullptr;  // it is taken
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

// A number, as an operand.
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
      word.kind = GT_NUMBER;  // no i64 holds it
      word.number = static_cast<double>(value);
    } else {
      word.kind = GT_INTEGER;
      word.integer = static_cast<int64_t>(value);
    }
  }
};

// An operand that may be a tensor or a number. It knows where it stands, which
// is how operators know.
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

// A line that is being put together. What each op of the table needs is not
// inlined into it: that saves a program's compiler more than it costs a call.
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
  // No op takes two.
  void add(const Type& type) {
    type_ = type.raw();
    operand(GT_TYPE).type = &type_;
  }
  void add(Dtype dtype) { add_text(GT_TEXT, dtype.text()); }
  // The text must be there until the line is written.
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

  // Writes the line, whose one result is a new tensor.
  [[gnu::noinline]] Tensor run() {
    gt_value* result = nullptr;
    run(&result, 1);
    return Tensor::adopt(result);
  }
  // The same under a name; "": one that the session chooses.
  Tensor run_as(const std::string& name) {
    const char* const names[] = {name.c_str()};
    line_.names = names;
    return run();
  }
  std::vector<Tensor> run(size_t count) {
    std::vector<gt_value*> results(count);
    run(results.data(), count);
    std::vector<Tensor> out(count);
    for (size_t i = 0; i < count; ++i) out[i] = Tensor::adopt(results[i]);
    return out;
  }
  // New values, which the caller owns.
  [[gnu::noinline]] void run(gt_value** results, size_t count) {
    line_.operands = words_;
    line_.keys = keys_;
    line_.result_count = count;
    check(gt_call(session(), &line_, results), at_);
  }
  // The results are bound to the names of these. Without any, it has none.
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
  // The next operand.
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
  // The session of the first tensor; without one, the thread's.
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

// What of an axis: an index, a range, or an index that is a scalar tensor.
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

  // As a word of the line; the place of a tensor in what it has chosen.
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

// So many elements of the type, from memory; they are copied.
inline Tensor from_blob(const void* bytes, const Type& type,
                        const std::string& name = "", At at = At::here()) {
  const gt_type raw = type.raw();
  gt_value* value =
      gt_write(current_session(at), &raw, bytes, name.c_str(), at);
  if (value == nullptr) detail::fail(at);
  return Tensor::adopt(value);
}
// A tensor of these elements, in row-major order. Error: their number is not
// that of the shape; without a shape they are one dimension.
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
// A list in braces is always a shape; to the compiler, {0} might be an At.
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
// A scalar.
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

// The history behind a value, which backward() would walk, as lines of a
// program, the oldest first. Those that no longer have a name are v0, v1 ...
inline std::string tape(const Tensor& x, At at = At::here()) {
  return detail::text_or_fail(gt_tape(x.raw()), at);
}
// The same as a graph, for dot of Graphviz.
inline std::string dot(const Tensor& x, At at = At::here()) {
  return detail::text_or_fail(gt_dot(x.raw()), at);
}

}  // namespace gt::inline v1
