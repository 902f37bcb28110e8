// The functions that the rows of attention and its parts name: type functions
// (Row::types in op.h: they append the results' types, and their errors name
// the sizes), index rules (Row::labels) and texts of placeholders
// (Row::placeholder, "" for a name that is unknown).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ops/call.h"
#include "ops/index_rule.h"

namespace gt {

Status types_attention(Call& call);
Status types_attention_grad(Call& call);
// Placeholders. {wide}: the dtype that sums are taken in; {masked}: "none",
// "bool" or "float"; {bare}: "1" if it is "none", else "0"; {rows} {columns}
// {first} {group} as in Attention, {factor}: its scale; {kv_heads}: the heads
// of k and v; {x.heads}: those of x; {k_lead} {v_lead}: "all" if k, or v, has
// all leading dimensions, "own" if it is broadcast along some; {of_rows}: "all"
// rows of q, or "some" of them, as part= says, and {rows_part} which.
std::string attention_word(const Call& call, std::string_view name, size_t);
// Ranks may cut the leading dimensions, which broadcast; the heads; and the
// rows of q, over which the gradients of k and v are sums. The rows of k must
// be whole.
std::vector<Label> labels_attention(const Call& call);

// split_heads makes [...,h,s,d] of [...,s,h*d], merge_heads the reverse.
Status types_split_heads(Call& call);
Status types_merge_heads(Call& call);
std::vector<Label> labels_heads(const Call& call);
// Placeholders. {parts}: the shape [...,s,h,d]; {order}: the axes= of the
// transpose that exchanges s and h.
std::string heads_word(const Call& call, std::string_view name, size_t);

// repeat_heads repeats each head size= times; fold_heads, its gradient, sums
// each size= heads.
Status types_repeat_heads(Call& call);
// Placeholders. {apart} and {wide}: the shape with one more dimension behind
// that of the heads, of size 1 or of size=; {at}: the index of that dimension.
std::string repeat_word(const Call& call, std::string_view name, size_t);
std::vector<Label> labels_repeat_heads(const Call& call);

}  // namespace gt
