#include "exec/comm/exchange_run.h"

namespace gt::exec::comm {

ExchangeRun::Exported ExchangeRun::exported(size_t step, size_t own) const {
  const Value* value = step > 0 ? made[step - 1][own].output : shown[own].value;
  return {value == nullptr ? nullptr : value->data,
          step > 0 ? made[step - 1][own].fault : shown[own].fault};
}

Fault ExchangeRun::fail(const std::string& why, Exit kind) {
  const std::string message = exchange->op + ": " + why;
  if (!error) {
    error = Error{message, exchange->op_column};
    status = kind;
  }
  return std::make_shared<const std::string>(to_string(where.place()) + ": " +
                                             message);
}

}  // namespace gt::exec::comm
