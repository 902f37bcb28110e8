// Lines that gt-emit refuses, and failures that names hold: what is said to
// people, and what later stages get in the lines' place.
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
  // same. A print prints the failure, so that its reader does not wait; a save
  // saves it, so that a later load finds no older file.
  void reject(LineState& state, const Error& error, std::string& out);
  // Writes "y = fail MESSAGE" for each of the line's results, and binds it so.
  void fail_results(LineState& state, const std::string& message,
                    std::string& out);
  // Binds a name to a failure. Aliases of what it held (Ledger::release) go to
  // `out`; the line that says the failure is the caller's to write.
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
