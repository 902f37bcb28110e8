#include "ops/table.h"

#include <algorithm>
#include <unordered_map>

#include "base/hash.h"
#include "base/lazy_table.h"
#include "base/text.h"
#include "ops/families.h"
#include "ops/row_parser.h"

namespace gt {
namespace {

// The table of all ops. Rows are compiled when their op is first asked for,
// since a program uses few of them.
struct Table {
  struct Entry {
    const Family* family;
    const Row* row;
  };
  std::vector<Entry> entries;
  std::unordered_map<std::string_view, size_t> by_name;
  LazyTable<Op> ops;

  Table()
      : entries(list()), ops(entries.size(), [this](size_t i) {
          Op op = parse_row(*entries[i].row);
          op.family = entries[i].family;
          op.id = static_cast<uint32_t>(i);
          return op;
        }) {
    by_name.reserve(entries.size());
    for (size_t i = 0; i < entries.size(); ++i) {
      const bool fresh = by_name.emplace(name_in(*entries[i].row), i).second;
      GT_CHECK(fresh);
    }
  }
  static std::vector<Entry> list() {
    std::vector<Entry> entries;
    for (const Family* family : kFamilies) {
      for (const Row& row : family->rows) entries.push_back({family, &row});
    }
    return entries;
  }
};

const Table& table() {
  static const Table instance;
  return instance;
}

}  // namespace

const Op* find_op(std::string_view name) {
  const auto& names = table().by_name;
  const auto it = names.find(name);
  return it == names.end() ? nullptr : &table().ops[it->second];
}

const Op& op_at(size_t id) { return table().ops[id]; }

Statement statement_of(std::string_view op) {
  const Op* found = find_op(op);
  return found == nullptr ? Statement::kCompute : found->row->statement;
}

Collective collective_of(std::string_view op) {
  const Op* found = find_op(op);
  return found == nullptr ? Collective::kNone : found->row->collective;
}

const std::vector<Op>& all_ops() { return table().ops.all(); }

std::vector<std::string_view> op_names() {
  std::vector<std::string_view> names;
  for (const Op& op : all_ops()) {
    if (!op.row->internal) names.push_back(op.name);
  }
  return names;
}

std::vector<const Row*> all_rows() {
  std::vector<const Row*> rows;
  for (const Table::Entry& entry : table().entries) rows.push_back(entry.row);
  return rows;
}

uint64_t table_digest() {
  static const uint64_t digest = digest_of(all_rows());
  return digest;
}

uint64_t digest_of(std::span<const Row* const> rows) {
  std::string meaning;
  for (const Row* row : rows) {
    for (const char* text :
         {row->signature, row->index, row->dtype, row->accepts, row->expansion,
          row->in_f32 ? "in_f32" : ""}) {
      meaning += text;
      meaning += '\n';
    }
  }
  return hash_bytes(meaning);
}

size_t Op::least_operands() const {
  return static_cast<size_t>(
      std::count_if(operands.begin(), operands.end(),
                    [](const Parameter& p) { return !p.optional; }));
}

bool Op::is_variadic() const {
  return std::any_of(operands.begin(), operands.end(),
                     [](const Parameter& p) { return p.variadic; });
}

int Op::key_index(std::string_view key) const {
  for (size_t i = 0; i < keys.size(); ++i) {
    if (key == keys[i].row->name) return static_cast<int>(i);
  }
  return -1;
}

namespace {

size_t parameter_at(const std::vector<Parameter>& parameters, size_t i,
                    size_t count) {
  for (size_t p = 0; p < parameters.size(); ++p) {
    if (!parameters[p].variadic) continue;
    const size_t repeats = count + 1 - parameters.size();
    if (i < p) return i;
    return i < p + repeats ? p : i - repeats + 1;
  }
  return i;
}

// The inverse.
std::optional<size_t> first_at(const std::vector<Parameter>& parameters,
                               size_t parameter, size_t count) {
  const auto variadic =
      std::find_if(parameters.begin(), parameters.end(),
                   [](const Parameter& p) { return p.variadic; });
  const auto v = static_cast<size_t>(variadic - parameters.begin());
  // How many more operands than parameters there are from there on.
  const size_t at =
      parameter <= v ? parameter : parameter + count - parameters.size();
  if (at >= count || parameter_at(parameters, at, count) != parameter) {
    return std::nullopt;
  }
  return at;
}

}  // namespace

std::optional<size_t> Op::first_of(size_t parameter, size_t count) const {
  return first_at(operands, parameter, count);
}

std::optional<size_t> Op::first_result_of(size_t parameter,
                                          size_t count) const {
  return first_at(results, parameter, count);
}

size_t Op::parameter_of(size_t i, size_t count) const {
  return parameter_at(operands, i, count);
}

size_t Op::result_parameter_of(size_t i, size_t count) const {
  return parameter_at(results, i, count);
}

bool Op::is_non_differentiable(size_t operand) const {
  const auto words = words_of(row->non_differentiable);
  return std::find(words.begin(), words.end(), operands[operand].name) !=
         words.end();
}

std::vector<std::string_view> linear_sets(const Op& op) {
  return words_of(op.row->linear);
}

}  // namespace gt
