// The functions that the rows of attention and its parts name. Type functions
// (Row::types in op.h) append the results' types, and their errors name the
// sizes. Index rules (Row::labels) return the labels. Placeholder functions
// (Row::placeholder) return a text, "" for a name that is unknown.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ops/call.h"
#include "ops/index_rule.h"

namespace gt {

Status types_attention(Call& call);
Status types_attention_grad(Call& call);
// The placeholders of attention. {wide}: the dtype that sums are taken in;
// {masked}: "none", "bool" or "float"; {bare}: "1" if {masked} is "none", else
// "0"; {rows} {columns} {first} {group}: as in Attention, {factor}: its scale;
// {kv_heads}: the heads of k and v; {x.heads}: those of x; {k_lead} {v_lead}:
// "all" if k, or v, has all leading dimensions, "own" if it is broadcast along
// some; {of_rows}: "all" if q has all rows, "some" if it has the part that
// part= says; {rows_part}: that part.
std::string attention_word(const Call& call, std::string_view name, size_t);
// The labels of attention. Ranks may cut the leading dimensions, which
// broadcast; the heads; and the rows of q, over which the gradients of k and v
// are sums. The rows of k must be whole.
std::vector<Label> labels_attention(const Call& call);

// split_heads turns [...,s,h*d] into [...,h,s,d]; merge_heads does the reverse.
Status types_split_heads(Call& call);
Status types_merge_heads(Call& call);
std::vector<Label> labels_heads(const Call& call);
// The placeholders of both. {parts}: the shape [...,s,h,d]; {order}: the axes=
// of the transpose that exchanges s and h.
std::string heads_word(const Call& call, std::string_view name, size_t);

// repeat_heads repeats each head size= times; fold_heads, its gradient, sums
// each size= heads.
Status types_repeat_heads(Call& call);
// The placeholders of both. {apart} and {wide}: the shape with one more
// dimension behind that of the heads, of size 1 or of size=; {at}: the index of
// that dimension.
std::string repeat_word(const Call& call, std::string_view name, size_t);
std::vector<Label> labels_repeat_heads(const Call& call);

}  // namespace gt
