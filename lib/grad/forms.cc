#include "grad/forms.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/hash.h"
#include "base/message.h"

namespace gt::grad {
namespace {

template <typename T, uint32_t N>
std::string_view bytes_of(const SmallVector<T, N>& values) {
  return {reinterpret_cast<const char*>(values.data()),
          values.size() * sizeof(T)};
}

uint64_t hash_of(const Form& form) {
  std::string key = form.line;
  key.append(form.notes).append(form.shown);
  key.append(bytes_of(form.types)).append(bytes_of(form.needed_operands));
  key.append(bytes_of(form.needed_results));
  return hash_bytes(key) + form.mesh;
}

bool is_same(const Form& a, const Form& b) {
  return a.op == b.op && a.line == b.line && a.notes == b.notes &&
         a.shown == b.shown && a.mesh == b.mesh && a.file == b.file &&
         a.operands == b.operands && bytes_of(a.types) == bytes_of(b.types) &&
         bytes_of(a.differentiable) == bytes_of(b.differentiable) &&
         bytes_of(a.needed_operands) == bytes_of(b.needed_operands) &&
         bytes_of(a.needed_results) == bytes_of(b.needed_results);
}

}  // namespace

FormId Forms::obtain(Form form) {
  const uint64_t hash = hash_of(form);
  const auto [first, last] = by_hash_.equal_range(hash);
  for (auto it = first; it != last; ++it) {
    Held& known = forms_[it->second];
    if (!is_same(known.form, form)) continue;
    ++known.holders;
    return it->second;
  }
  FormId id = static_cast<FormId>(forms_.size());
  if (free_.empty()) {
    forms_.emplace_back();
  } else {
    id = free_.back();
    free_.pop_back();
  }
  forms_[id] = {std::move(form), hash, 1};
  by_hash_.emplace(hash, id);
  return id;
}

const Line& Forms::parsed(FormId id) const {
  const Held& held = forms_[id];
  if (held.parsed.op.empty()) {
    GT_CHECK(parse_line(held.form.line, held.parsed).ok());
  }
  return held.parsed;
}

void Forms::drop(FormId id) {
  Held& held = forms_[id];
  GT_CHECK(held.holders > 0);
  if (--held.holders > 0) return;
  const auto [first, last] = by_hash_.equal_range(held.hash);
  by_hash_.erase(std::find_if(
      first, last, [id](const auto& known) { return known.second == id; }));
  held.form = Form{};
  held.parsed = {};
  free_.push_back(id);
}

}  // namespace gt::grad
