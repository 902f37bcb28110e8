#include "exec/decode/recipe_table.h"

#include <exception>

#include "base/hash.h"

namespace gt {
namespace {

template <typename T>
void append_bytes(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void append_text(std::string& out, std::string_view text) {
  append_bytes(out, static_cast<uint32_t>(text.size()));
  out += text;
}

}  // namespace

void RecipeTable::write_key(const Call& call) {
  key_.clear();
  append_bytes(key_, call.op->id);
  append_bytes(key_, static_cast<uint32_t>(call.results.size()));
  for (const Argument& a : call.arguments) {
    if (a.absent) {
      key_ += '-';
    } else if (a.literal) {  // any number of its kind
      key_ += 'L';
      key_ += static_cast<char>(a.number.kind);
    } else if (a.role == Role::kTensor) {
      key_ += 'T';
      append_bytes(key_, context_.types.intern(a.type));
    } else {
      key_ += '=';
      append_text(key_, a.text);
    }
  }
  for (const Operand& number : call.numbers) {
    if (key_.size() > kMaxKey) break;  // it is not kept anyway
    append_text(key_, number.text);
  }
  for (const std::string_view value : call.key_values) {
    append_text(key_, value);
  }
}

Result<Recipe*> RecipeTable::obtain(const Call& call,
                                    std::unique_ptr<Recipe>& evicted) {
  write_key(call);
  // A kernel may want scratch memory for sizes that no machine has.
  const auto build = [&]() -> Built {
    try {
      return build_recipe(call, context_);
    } catch (const std::exception& e) {
      return Error{call.op->name + ": cannot be prepared: " + e.what()};
    }
  };
  return obtain_keyed(build, evicted);
}

Result<Recipe*> RecipeTable::obtain_group(const Op& op,
                                          const std::vector<Type>& pieces,
                                          const std::vector<std::string>& lines,
                                          size_t results,
                                          std::unique_ptr<Recipe>& evicted) {
  key_.clear();
  append_bytes(key_, op.id);
  key_ += 'G';
  for (const Type& type : pieces) {
    append_bytes(key_, context_.types.intern(type));
  }
  for (const std::string& line : lines) append_text(key_, line);
  const auto build = [&]() -> Built {
    try {
      return build_group_recipe(op, pieces, lines, results, context_);
    } catch (const std::exception& e) {
      return Error{std::string("cannot be prepared: ") + e.what()};
    }
  };
  return obtain_keyed(build, evicted);
}

Result<Recipe*> RecipeTable::obtain_keyed(const std::function<Built()>& build,
                                          std::unique_ptr<Recipe>& evicted) {
  const uint64_t hash = hash_bytes(key_);
  if (keeps_) {
    if (Recipe* known = recipes_.find(hash, key_)) {
      ++known->references;
      return known;
    }
  }
  auto built = build();
  if (!built.ok()) return built.error();
  Recipe* recipe = built.value().release();
  recipe->references = 1;
  if (!keeps_ || recipe->is_exact || key_.size() > kMaxKey) return recipe;
  recipe->text = key_;
  ++recipe->references;
  evicted = recipes_.insert(hash, std::unique_ptr<Recipe>(recipe));
  if (evicted != nullptr && --evicted->references > 0) (void)evicted.release();
  return recipe;
}

std::unique_ptr<Recipe> RecipeTable::release(Recipe* recipe) {
  return std::unique_ptr<Recipe>(--recipe->references == 0 ? recipe : nullptr);
}

void RecipeTable::clear() {
  recipes_.for_each([](Recipe* recipe) { delete recipe; });
  recipes_.forget();
}

}  // namespace gt
