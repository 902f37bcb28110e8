// Lines that are refused, and failures that names hold: what is said, and what
// later stages get in their place.
#pragma once

#include <string>
#include <string_view>

#include "emit/ledger.h"
#include "emit/line_state.h"
#include "emit/line_writer.h"
#include "emit/messages.h"
#include "emit/seeds.h"

namespace gt::emit {

class Failures {
 public:
  Failures(Ledger& ledger, Messages& messages, const LineWriter& writer,
           Seeds& seeds)
      : ledger_(ledger), messages_(messages), writer_(writer), seeds_(seeds) {}

  // Says what is wrong with the line. Its results become failures that say the
  // same, and what it would have printed or saved does, too.
  void reject(LineState& state, const Error& error, std::string& out);
  // Writes lines that make failures of the line's results.
  void fail_results(LineState& state, const std::string& message,
                    std::string& out);
  // Binds a name to a failure; what must stand before that goes to `out`.
  void bind(const Name& name, const FailureText& why, Origin origin,
            std::string& out);

 private:
  bool takes_failure(const LineState& state, size_t result) const;
  void write_output(const LineState& state, const std::string& message,
                    std::string& out);

  Ledger& ledger_;
  Messages& messages_;
  const LineWriter& writer_;
  Seeds& seeds_;
};

}  // namespace gt::emit
