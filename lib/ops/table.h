// The table of all ops and keys. The families are listed in families.h; nothing
// else lists ops.
//
// A row is compiled into its Op when the op is first asked for, since a program
// uses few of them, and all rows by all_ops(). The thread that asks compiles it
// under a lock; others wait. A bad row is a bug of gt's and aborts the process
// with the row's signature (row_parser.h); a gradient or expansion that names
// no op, or no key of one, does so when steps of it are first made (text.h).
// All functions are thread-safe, and what they return lives as long as the
// process.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ops/op.h"

namespace gt {

// The op of that name, or null.
const Op* find_op(std::string_view name);
// The op with that Op::id, which must exist.
const Op& op_at(size_t id);
// Row::statement and Row::collective of the op of that name; kCompute and kNone
// if there is no such op.
Statement statement_of(std::string_view op);
Collective collective_of(std::string_view op);
// All ops by id. Compiles all rows.
const std::vector<Op>& all_ops();
// All rows, without compiling them.
std::vector<const Row*> all_rows();
// The names of the ops that users may write. Compiles all rows.
std::vector<std::string_view> op_names();
// The key of that name, or null. The list stands in keys.cc.
const KeyRow* find_key(std::string_view name);
std::span<const KeyRow> all_keys();
// The value of a key that is a flag: true for 1 or true, false for 0 or false,
// nothing for any other.
std::optional<bool> parse_flag(std::string_view value);

// A digest of the table, which gt-route and gt-work compare when they meet. It
// covers the texts that say what an op computes (signature, index, dtypes,
// expansion), and no help.
uint64_t table_digest();
// The same of these rows.
uint64_t digest_of(std::span<const Row* const> rows);

}  // namespace gt
