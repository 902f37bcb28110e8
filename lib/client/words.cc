#include "client/words.h"

#include <string>
#include <string_view>

#include "stream/number.h"
#include "stream/type.h"

namespace gt::client {
namespace {

template <typename T>
void append_float(std::string& out, T value) {
  const size_t begin = out.size();
  append_number(out, value);
  const bool is_whole =
      out.find_first_not_of("-0123456789", begin) == std::string::npos;
  if (is_whole) out += ".0";
}

void append_list(std::string& out, const int64_t* list, size_t size) {
  for (size_t i = 0; i < size; ++i) {
    if (i > 0) out += ',';
    append_number(out, list[i]);
  }
}

}  // namespace

void append_type(std::string& out, const gt_type& type) {
  out += to_string(static_cast<Dtype>(type.dtype));
  out += '[';
  append_list(out, type.sizes, static_cast<size_t>(type.rank));
  out += ']';
}

void append_word(std::string& out, const gt_word& word) {
  switch (word.kind) {
    case GT_VALUE:
      return;
    case GT_INTEGER:
      return append_number(out, word.integer);
    case GT_UNSIGNED:
      out += std::to_string(static_cast<uint64_t>(word.integer));
      return;
    case GT_NUMBER:
      return append_float(out, word.number);
    case GT_SINGLE:
      return append_float(out, static_cast<float>(word.number));
    case GT_TEXT:
      out.append(word.text, word.size);
      return;
    case GT_STRING:
      out += quote({word.text, word.size});
      return;
    case GT_LIST:
      return append_list(out, word.list, word.size);
    case GT_TYPE:
      return append_type(out, *word.type);
  }
}

Operand::Kind kind_of(const gt_word& word) {
  switch (word.kind) {
    case GT_VALUE:
      return Operand::Kind::kName;
    case GT_STRING:
      return Operand::Kind::kString;
    case GT_TEXT:
      return kind_of_word({word.text, word.size});
    case GT_TYPE:
      return Operand::Kind::kType;
    default:
      return Operand::Kind::kNumber;
  }
}

}  // namespace gt::client
