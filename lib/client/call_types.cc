#include "client/call_types.h"

#include "base/hash.h"
#include "client/value.h"
#include "client/words.h"
#include "ops/table.h"

namespace gt::client {
namespace {

// Longer calls (a tensor's numbers) are not kept, but checked each time.
constexpr size_t kMostKept = 1024;

void append_bytes(std::string& out, const void* data, size_t size) {
  out.append(static_cast<const char*>(data), size);
}

// Checks what can be checked without the history; gt-emit, which has it, checks
// the rest.
Status check_grad(const Line& line, std::span<const Type* const> operands) {
  if (operands.size() < 2 || line.results.size() + 1 != operands.size()) {
    return Error{"grad: takes a loss and one target or more"};
  }
  for (size_t i = 0; i < operands.size(); ++i) {
    if (operands[i] == nullptr) {
      return Error{"grad: its operands are names of tensors"};
    }
    const std::string shown =
        std::string(line.operands[i].text) + " " + to_string(*operands[i]);
    if (i == 0 && !operands[i]->shape.empty()) {
      return Error{"grad: loss " + shown +
                   " must be a scalar; take its sum or mean"};
    }
    if (!is_float(operands[i]->dtype)) {
      return Error{"grad: " + shown + ": only floats have gradients"};
    }
  }
  return ok_status();
}

}  // namespace

TypeId CallTable::id(const Type& type) {
  const TypeId id = types_.id(type);
  if (id == shown_.size()) {
    const Type& held = types_[id];
    shown_.push_back({static_cast<gt_dtype>(held.dtype),
                      static_cast<int32_t>(held.shape.size()),
                      held.shape.begin()});
  }
  return id;
}

Result<const CallTypes*> CallTable::find(const gt_instruction& call,
                                         std::span<const TypeId> types) {
  // Each field ends in a byte that no word contains, so that two calls with the
  // same key are the same call.
  key_ = call.op;
  key_ += '\n';
  append_bytes(key_, &call.result_count, sizeof call.result_count);
  for (size_t i = 0; i < call.operand_count; ++i) {
    if (call.operands[i].kind == GT_VALUE) {
      key_ += '\1';
      append_bytes(key_, &types[i], sizeof types[i]);
    } else {
      append_word(key_, call.operands[i]);
      key_ += '\n';
    }
    if (key_.size() > kMostKept) return make(call, types, 0);
  }
  for (size_t i = 0; i < call.key_count; ++i) {
    key_ += call.keys[i].name;
    key_ += '=';
    append_word(key_, call.keys[i].value);
    key_ += '\n';
  }
  if (key_.size() > kMostKept) return make(call, types, 0);
  const uint64_t hash = hash_bytes(key_);
  if (const CallTypes* known = known_.find(hash, key_)) return known;
  return make(call, types, hash);
}

Result<const CallTypes*> CallTable::make(const gt_instruction& call,
                                         std::span<const TypeId> types,
                                         uint64_t hash) {
  // Builds the line that parse_line() would return. Its views are of words_.
  line_ = {};
  line_.kind = Line::Kind::kInstruction;
  line_.op = call.op;
  line_.results.resize(call.result_count, {"y", "", 0});
  words_.clear();
  words_.reserve(call.operand_count + call.key_count + 1);
  operands_.clear();
  for (size_t i = 0; i < call.operand_count; ++i) {
    const gt_word& word = call.operands[i];
    const bool is_value = word.kind == GT_VALUE;
    std::string& text = words_.emplace_back();
    // A value is given by its name, for messages; what is known of it is its
    // type.
    is_value ? text = word.value->name.text : (append_word(text, word), text);
    line_.operands.push_back({kind_of(word), 0, std::string_view(text), ""});
    operands_.push_back(is_value ? &types_[types[i]] : nullptr);
  }
  for (size_t i = 0; i < call.key_count; ++i) {
    std::string& text = words_.emplace_back();
    append_word(text, call.keys[i].value);
    line_.keys.push_back({call.keys[i].name, text, 0});
  }
  // gt-emit adds a seed that is left out. No type depends on its value.
  const Op* const op = find_op(line_.op);
  if (op != nullptr && op->is_seed(call.operand_count)) {
    line_.operands.push_back({Operand::Kind::kNumber, 0, "0", ""});
    operands_.push_back(nullptr);
  }
  // gt-emit also adds the type that a load leaves out, which it reads from the
  // file. Here it is read at each call, and not kept, since files change.
  const Statement statement = statement_of(line_.op);
  if (statement == Statement::kLoad && call.operand_count == 1) {
    const auto type = paths_.type_of(unquote(line_.operands[0].text));
    if (!type.ok()) return Error{"load: " + type.error().message};
    words_.push_back(to_string(type.value()));
    line_.operands.push_back({Operand::Kind::kType, 0, words_.back(), ""});
    operands_.push_back(nullptr);
    hash = 0;
  }
  auto made = std::make_unique<CallTypes>();
  if (statement == Statement::kGrad) {
    const Status status = check_grad(line_, operands_);
    if (!status.ok()) return Error{status.error().message};
    made->op = op;
    for (size_t i = 1; i < call.operand_count; ++i) {
      made->results.push_back(types[i]);
    }
  } else {
    const Status status = gt::bind(line_, operands_, call_);
    if (!status.ok()) return Error{status.error().message};
    made->op = call_.op;
    for (const Type& type : call_.results) made->results.push_back(id(type));
  }
  made->is_leaf = made->op->row->leaf;
  CallTypes* const out = made.get();
  if (hash == 0) {
    last_ = std::move(made);
  } else {
    made->text = key_;
    last_ = known_.insert(hash, std::move(made));
  }
  return out;
}

}  // namespace gt::client
