// The functions of attention's rows.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ops/call.h"
#include "ops/index_rule.h"

namespace gt {

Status types_attention(Call& call);
Status types_attention_grad(Call& call);
// {wide}: the dtype that the work is done in; {masked}: "none", "bool" or
// "float", {bare}: whether it is "none"; {rows} {columns} {first} {factor}
// {group} as in Attention; {kv_heads}: the heads of k and v; {x.heads}: those
// of x; {k_lead} {v_lead}: whether k, or v, has "all" leading dimensions, or
// fewer of its "own"; {of_rows}: whether these are "all" rows, or "some" that
// part= says, and {rows_part} which of them.
std::string attention_word(const Call& call, std::string_view name, size_t);
// Leading dimensions, which broadcast; heads; q's rows, which the gradients of
// k and v are sums over. k's rows are whole.
std::vector<Label> labels_attention(const Call& call);

// [...,s,h*d] and [...,h,s,d].
Status types_split_heads(Call& call);
Status types_merge_heads(Call& call);
std::vector<Label> labels_heads(const Call& call);
// {parts}: [...,s,h,d] as a shape; {order}: the axes that exchange s and h.
std::string heads_word(const Call& call, std::string_view name, size_t);

// Each head size= times, and the sum of each size= heads.
Status types_repeat_heads(Call& call);
// {apart} {wide}: the shape with a dimension of 1, or of size=, after each
// head; {at}: where that is.
std::string repeat_word(const Call& call, std::string_view name, size_t);
std::vector<Label> labels_repeat_heads(const Call& call);

}  // namespace gt
