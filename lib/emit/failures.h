// Lines that gt-emit refuses, and failures that names hold: the messages to
// people, and what later stages get in place of the lines.
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

  // Refuses the line: prints what is wrong with it, and makes its results
  // failures with the same text. A print prints the failure, so that its reader
  // does not wait; a save saves it, so that a later load finds no older file.
  void reject(LineState& state, const Error& error, std::string& out);
  // Writes "y = fail MESSAGE" for each of the line's results, and binds it to
  // the failure. A new name for which the quota has no room stays unknown, so
  // that mistakes take no more memory than the quota says.
  void fail_results(LineState& state, const std::string& message,
                    std::string& out);
  // Binds a name to a failure. Aliases of what it held (Ledger::release) go to
  // `out`; the caller must write the line that states the failure.
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
