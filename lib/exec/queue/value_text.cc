#include "exec/queue/value_text.h"

#include <cstring>
#include <string>

#include "stream/line.h"
#include "stream/number.h"

namespace gt::exec {
namespace {

constexpr size_t kTextChunk = size_t{64} << 10;

template <typename T>
T element(const void* data, int64_t i) {
  T value;
  std::memcpy(
      &value,
      static_cast<const char*>(data) + static_cast<size_t>(i) * sizeof(T),
      sizeof value);
  return value;
}

void append_element(std::string& out, Dtype dtype, const void* data,
                    int64_t i) {
  if (dtype == Dtype::kBool) {
    out += element<uint8_t>(data, i) != 0 ? '1' : '0';
    return;
  }
  with_element(dtype, [&]<typename T>() {
    const T value = element<T>(data, i);
    if constexpr (std::is_integral_v<T>) {
      append_number(out, int64_t{value});
    } else {
      append_number(out, value);
    }
  });
}

}  // namespace

void write_tensor(Writer& out, std::string_view name, const Type& type,
                  const void* data) {
  std::string text(name);
  text += " = tensor ";
  text += to_string(type);
  const int64_t n = type.elements();
  for (int64_t i = 0; i < n; ++i) {
    text += ' ';
    if (data == nullptr) {
      text += '0';
    } else {
      append_element(text, type.dtype, data, i);
    }
    if (text.size() < kTextChunk) continue;
    out.write(text);
    text.clear();
  }
  text += '\n';
  out.write(text);
}

void write_failure(Writer& out, std::string_view name,
                   std::string_view message) {
  std::string text(name);
  text += " = fail ";
  text += quote(message);
  text += '\n';
  out.write(text);
}

}  // namespace gt::exec
