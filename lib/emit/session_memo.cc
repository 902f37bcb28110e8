// Lines whose pattern was seen before: only their names and types need a look.
#include "emit/session.h"

namespace gt {

// Looks up the pattern's names; false when the memo does not hold for them.
bool Session::resolve_memo(const Memo& memo) {
  const std::vector<std::string_view>& names = pattern_.names;
  size_t next = pattern_.results;
  operand_values_.clear();
  for (const bool is_name : memo.is_name) {
    operand_values_.push_back(kNil);
    if (!is_name) continue;
    const SymbolId id = ledger_.symbols.find(names[next]);
    if (id == kNil || ledger_.symbols[id].value == kNil) return false;
    const ValueId value = ledger_.symbols[id].value;
    const TypeId type = memo.operand_types[next++ - pattern_.results];
    if (ledger_.tape.type(value) != type) return false;
    operand_values_.back() = value;
  }
  for (size_t i = 1; i < pattern_.results; ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (names[i] == names[j]) return false;
    }
  }
  return true;
}

bool Session::feed_memo(std::string_view line, Origin origin, const Memo& memo,
                        std::string& out) {
  if (memo.op == nullptr || memo.emitted != ledger_.emitted ||
      memo.key != pattern_.key || memo.file != origin.file() ||
      !resolve_memo(memo)) {
    return false;
  }
  if (memo.form != kNil) {
    ledger_.tape.record(memo.form, operand_values_, origin, result_values_);
  } else {
    result_values_.clear();
    for (size_t r = 0; r < pattern_.results; ++r) {
      result_values_.push_back(ledger_.tape.add_leaf(
          memo.result_types[r], memo.differentiable[r] != 0, origin));
    }
  }
  before_.clear();
  for (size_t r = 0; r < pattern_.results; ++r) {
    ledger_.bind(ledger_.symbols.intern(pattern_.names[r]), result_values_[r],
                 origin, before_);
  }
  out += before_;
  out += line;
  if (files_[origin.file()].at && !ledger_.emitted &&
      line.find(" #at=") == line.npos) {
    line_.notes.clear();
    out += at_note(origin);
  }
  out += '\n';
  ledger_.write_idle_frees(out);
  limit_history(origin);
  return true;
}

void Session::remember(Memo& memo, Origin origin) {
  memo.key = pattern_.key;
  memo.emitted = ledger_.emitted;
  memo.op = call_.op;
  memo.is_name.clear();
  memo.operand_types.clear();
  for (size_t i = 0; i < operand_symbols_.size(); ++i) {
    memo.is_name.push_back(operand_symbols_[i] != kNil);
    if (operand_symbols_[i] == kNil) continue;
    memo.operand_types.push_back(ledger_.types.id(*operand_types_[i]));
  }
  memo.result_types = result_types_;
  memo.differentiable = differentiable_;
  memo.file = origin.file();
  if (form_ != kNil) ledger_.tape.forms().hold(form_);
  if (memo.form != kNil) ledger_.tape.forms().drop(memo.form);
  memo.form = form_;
}

}  // namespace gt
