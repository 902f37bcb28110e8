#include "exec/recipe/recipe_table.h"

#include <exception>
#include <new>
#include <type_traits>

#include "base/hash.h"

namespace gt::exec {
namespace {

Error unprepared(const Op& op, const std::exception& e) {
  const bool is_short = dynamic_cast<const std::bad_alloc*>(&e) != nullptr;
  return Error{op.name + ": cannot be prepared: " +
               (is_short ? "out of memory" : e.what())};
}

template <typename T>
void append_bytes(std::string& out, T value) {
  static_assert(std::has_unique_object_representations_v<T>);
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void append_text(std::string& out, std::string_view text) {
  append_bytes(out, static_cast<uint32_t>(text.size()));
  out += text;
}

// Appends the members one by one, since padding bytes between them may have any
// value.
void append_ref(std::string& out, const Ref& ref) {
  append_bytes(out, ref.kind);
  append_bytes(out, ref.index);
}

void append_step(std::string& out, const Step& step) {
  append_bytes(out, step.op->id);
  append_bytes(out, static_cast<uint32_t>(step.operands.size()));
  for (const StepOperand& operand : step.operands) {
    out += operand.is_ref ? 'R' : '=';
    if (operand.is_ref) {
      append_ref(out, operand.ref);
    } else {
      append_text(out, operand.text);
    }
  }
  append_bytes(out, static_cast<uint32_t>(step.keys.size()));
  for (const auto& [key, value] : step.keys) {
    append_text(out, key);
    append_text(out, value);
  }
  for (const Ref& ref : step.results) append_ref(out, ref);
}

}  // namespace

void RecipeTable::write_key(const Call& call) {
  key_.clear();
  append_bytes(key_, call.op->id);
  append_bytes(key_, static_cast<uint32_t>(call.results.size()));
  for (const Argument& a : call.arguments) {
    if (a.absent) {
      key_ += '-';
    } else if (a.literal) {  // stands for any number of its kind
      key_ += 'L';
      key_ += static_cast<char>(a.number.kind);
    } else if (a.role == Role::kTensor) {
      key_ += 'T';
      append_bytes(key_, context_.types.id(a.type));
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

void RecipeTable::write_key(const Op& op, const std::vector<Type>& pieces,
                            const GroupProgram& program) {
  key_.clear();
  append_bytes(key_, op.id);
  key_ += 'G';
  for (const Type& type : pieces) {
    append_bytes(key_, context_.types.id(type));
  }
  for (const Step& step : program.steps) append_step(key_, step);
}

Result<std::shared_ptr<Recipe>> RecipeTable::obtain(const Call& call) {
  write_key(call);
  return obtain([&]() -> Built {
    try {
      return build_recipe(call, context_);
    } catch (const std::exception& e) {
      return unprepared(*call.op, e);
    }
  });
}

Result<std::shared_ptr<Recipe>> RecipeTable::obtain_group(
    const Op& op, const std::vector<Type>& pieces,
    const GroupProgram& program) {
  write_key(op, pieces, program);
  return obtain([&]() -> Built {
    try {
      auto built = build_group_recipe(op, pieces, program, context_);
      if (built.ok()) return built;
      return Error{op.name + ": " + built.error().message};
    } catch (const std::exception& e) {
      return unprepared(op, e);
    }
  });
}

Result<std::shared_ptr<Recipe>> RecipeTable::obtain(
    const std::function<Built()>& build) {
  const uint64_t hash = hash_bytes(key_);
  if (keeps_) {
    if (const Known* known = known_.find(hash, key_)) return known->recipe;
  }
  auto built = build();
  if (!built.ok()) return built.error();
  std::shared_ptr<Recipe> recipe = std::move(built.value());
  if (keeps_ && !recipe->is_exact && key_.size() <= kMaxKey) {
    known_.insert(hash, std::make_unique<Known>(Known{key_, recipe}));
  }
  return recipe;
}

}  // namespace gt::exec
