#include "exec/backend/cpu/convert.h"

namespace gt::exec::cpu {

Convert converter(Dtype from, Dtype to, const Loops& loops) {
  return loops.conversions[static_cast<size_t>(from) * kDtypes +
                           static_cast<size_t>(to)];
}

Converted::Converted(const Type& type, Dtype to, const Loops& loops)
    : n_(type.elements()), convert_(converter(type.dtype, to, loops)) {
  if (convert_ != nullptr) data_.resize(Type{to, type.shape}.bytes());
}

const void* Converted::get(const void* data) {
  if (convert_ == nullptr) return data;
  convert_(data, data_.data(), n_);
  return data_.data();
}

Returned::Returned(const Type& type, Dtype from, const Loops& loops)
    : n_(type.elements()), convert_(converter(from, type.dtype, loops)) {
  if (convert_ != nullptr) data_.resize(Type{from, type.shape}.bytes());
}

void* Returned::place(void* data) {
  return convert_ == nullptr ? data : data_.data();
}

void Returned::store(void* data) const {
  if (convert_ != nullptr) convert_(data_.data(), data, n_);
}

}  // namespace gt::exec::cpu
