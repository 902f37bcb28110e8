#include "client/call_text.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "client/failure.h"
#include "client/value.h"
#include "client/words.h"
#include "ops/table.h"
#include "stream/line.h"
#include "stream/number.h"

namespace gt::client {
namespace {

static_assert(kDtypes == GT_BOOL + 1, "gt/c.h has all dtypes");

// Returns the message of a `fail` line, without quotes.
std::string failure_text(const Line& line) {
  return line.operands.empty() ? "a value could not be computed"
                               : unquote(line.operands[0].text);
}

}  // namespace

void append_call(const gt_instruction& call,
                 std::span<const Names::Name> results, std::string& out) {
  for (const Names::Name& name : results) {
    out += name.text;
    out += ' ';
  }
  if (!results.empty()) out += "= ";
  out += call.op;
  for (size_t i = 0; i < call.operand_count; ++i) {
    out += ' ';
    const gt_word& word = call.operands[i];
    word.kind == GT_VALUE ? out += word.value->name.text
                          : (append_word(out, word), out);
  }
  for (size_t i = 0; i < call.key_count; ++i) {
    out += ' ';
    out += call.keys[i].name;
    out += '=';
    append_word(out, call.keys[i].value);
  }
}

int64_t elements_of(const gt_type& type) {
  int64_t n = 1;
  for (int32_t i = 0; i < type.rank; ++i) n *= type.sizes[i];
  return n;
}

Type checked_type(const gt_type& type) {
  const bool is_right = type.rank >= 0 &&
                        static_cast<size_t>(type.rank) <= Shape::kMaxRank &&
                        std::all_of(type.sizes, type.sizes + type.rank,
                                    [](int64_t size) { return size >= 0; });
  if (!is_right) fail(GT_WRONG, "a shape has at most 8 sizes, of 0 or more");
  const Type out{static_cast<Dtype>(type.dtype),
                 Shape(std::span(type.sizes, static_cast<size_t>(type.rank)))};
  value_or_fail(check_size(out), GT_WRONG);
  return out;
}

std::string type_text(const gt_type& type) {
  std::string out;
  append_type(out, type);
  return out;
}

void append_values(const gt_type& type, const void* bytes, std::string& out) {
  const int64_t count = elements_of(type);
  with_element(static_cast<Dtype>(type.dtype), [&]<typename T>() {
    for (int64_t i = 0; i < count; ++i) {
      T value;
      std::memcpy(&value, static_cast<const T*>(bytes) + i, sizeof value);
      out += ' ';
      if constexpr (std::is_integral_v<T>) {
        append_number(out, int64_t{value});
      } else {
        append_number(out, value);
      }
    }
  });
}

void read_result(std::string_view text, const gt_type& type, void* bytes) {
  Line line;
  const Status parsed = parse_line(text, line);
  if (parsed.ok() && statement_of(line.op) == Statement::kFail) {
    fail(GT_FAILED, failure_text(line));
  }
  const auto count = static_cast<size_t>(elements_of(type));
  const bool is_right = parsed.ok() && line.operands.size() == count + 1 &&
                        line.operands[0].text == type_text(type);
  if (!is_right) {
    fail(GT_LOST, "expected a " + type_text(type) + " and got '" +
                      std::string(text.substr(0, 80)) +
                      "': somebody else writes among the results");
  }
  with_element(static_cast<Dtype>(type.dtype), [&]<typename T>() {
    for (size_t i = 0; i < count; ++i) {
      const auto number = parse_number(line.operands[i + 1].text);
      if (!number) fail(GT_LOST, "a result has a word that is no number");
      T value;
      if constexpr (std::is_integral_v<T>) {
        value = static_cast<T>(number->integer);
      } else if constexpr (std::is_floating_point_v<T>) {
        value = static_cast<T>(number->real);
      } else {
        value = T::from(static_cast<float>(number->real));
      }
      std::memcpy(static_cast<T*>(bytes) + i, &value, sizeof value);
    }
  });
}

}  // namespace gt::client
