// All ops. The families are listed in families.h; nothing else lists ops.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ops/op.h"

namespace gt {

// The op of that name, or null. Thread-safe; a row is compiled when its op is
// first asked for, and all of them by all_ops().
const Op* find_op(std::string_view name);
const Op& op_at(size_t id);  // that whose Op::id it is
// What an op of that name asks of the programs, and how it moves pieces; of no
// op: kCompute, kNone.
Statement statement_of(std::string_view op);
Collective collective_of(std::string_view op);
const std::vector<Op>& all_ops();
std::vector<const Row*> all_rows();
std::vector<std::string_view> op_names();  // those users may write
const KeyRow* find_key(std::string_view name);
std::span<const KeyRow> all_keys();
// What a key that is a flag says: 1 or true, 0 or false; nothing of else.
std::optional<bool> parse_flag(std::string_view value);

// Digest of the table: programs that talk to each other compare it. It depends
// on all text that says what a line of an op computes, and on no help.
uint64_t table_digest();
uint64_t digest_of(std::span<const Row* const> rows);

}  // namespace gt
