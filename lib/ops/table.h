// The table of all ops and keys. The families are listed in families.h; nothing
// else lists ops.
//
// A row is compiled into its Op when the op is first asked for, since a program
// uses few of them; all_ops() compiles all rows. The thread that asks compiles
// the row under a lock; others wait. A bad row is a bug in gt and aborts the
// process with the row's signature (row_parser.h). A gradient or expansion that
// names no op, or no key of one, does so when steps of it are first made
// (text.h). All functions are thread-safe, and what they return lives as long
// as the process.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ops/op.h"

namespace gt {

// Returns the op of that name, or null.
const Op* find_op(std::string_view name);
// Returns the op with that Op::id, which must exist.
const Op& op_at(size_t id);
// Return Row::statement and Row::collective of the op of that name; kCompute
// and kNone if there is no such op.
Statement statement_of(std::string_view op);
Collective collective_of(std::string_view op);
// Returns all ops by id. Compiles all rows.
const std::vector<Op>& all_ops();
// Returns all rows, without compiling them.
std::vector<const Row*> all_rows();
// Returns the names of the ops that users may write. Compiles all rows.
std::vector<std::string_view> op_names();
// Returns the key of that name, or null. keys.cc has the list of all keys.
const KeyRow* find_key(std::string_view name);
std::span<const KeyRow> all_keys();
// Parses the value of a key that is a flag: true for 1 or true, false for 0 or
// false, nothing for any other.
std::optional<bool> parse_flag(std::string_view value);

// Returns a digest of the table, which gt-route and gt-work compare when they
// meet. It covers the texts that say what an op computes (signature, index,
// dtypes, expansion), but not the help.
uint64_t table_digest();
// Returns the digest of these rows alone.
uint64_t digest_of(std::span<const Row* const> rows);

}  // namespace gt
