#include "emit/saved_types.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/message.h"
#include "file/files.h"
#include "file/remote_files.h"
#include "ops/table.h"

namespace gt::emit {

FileLook look_at_file(const std::string& files, const std::string& path,
                      SafetensorsCache* headers) {
  FileLook seen;
  seen.has_directory = ::access(files.c_str(), F_OK) == 0 || errno != ENOENT;
  if (!seen.has_directory || headers == nullptr) return seen;
  const auto below = Files::make({files}, "the directory of its user");
  if (!below.ok()) {
    seen.header = below.error();
    return seen;
  }
  const StoredPath stored = split_path(files + path);
  const auto fd = below.value().open(stored.file);
  seen.header = fd.ok() ? read_stored(fd.value().get(), stored, *headers)
                        : Result<StoredTensor>(fd.error());
  return seen;
}

Result<Type> SavedTypes::type_of(const std::string& path) {
  const auto saved = types_.find(normal_path(path));
  if (saved != types_.end()) return saved->second;
  if (!is_client_ && is_remote(path)) {
    return Error{path +
                 " lies where only workers look; say its type behind the "
                 "path, as f32[2,3]"};
  }
  const auto header = read_header(path);
  if (header.ok()) return header.value().type;
  Error error = header.error();
  if (const size_t at = error.message.find(files_);
      is_client_ && at != std::string::npos) {
    error.message.erase(at, files_.size());
  }
  if (error.message.ends_with(std::strerror(ENOENT))) {
    error.message += is_client_ ? "; gt-emit --send brings a file there"
                                : "; where only workers have it, say its type "
                                  "behind the path, as f32[2,3]";
  }
  return error;
}

Result<StoredTensor> SavedTypes::read_header(const std::string& path) {
  if (is_client_) return seen_.header;
  return read_stored(split_path(path), headers_);
}

Status SavedTypes::check(const Line& line) {
  if (!is_client_) return ok_status();
  for (const Operand& operand : line.operands) {
    if (operand.kind != Operand::Kind::kString) continue;
    const std::string what = std::string(line.op) + ": ";
    if (files_.empty()) {
      return Error{what + no_files_, operand.column};
    }
    const std::string path = unquote(operand.text);
    if (!stays_below(path)) {
      return Error{what +
                       "a client's paths are relative, and below its "
                       "directory; got " +
                       excerpt(operand.text),
                   operand.column};
    }
    SafetensorsCache* const headers =
        statement_of(line.op) == Statement::kLoad ? &headers_ : nullptr;
    seen_ = look_ ? look_(path) : look_at_file(files_, path, headers);
    if (!seen_.has_directory) {
      return Error{what +
                       "this gt-emit has no files of its user; whoever runs it "
                       "can make a directory of their name below --files",
                   operand.column};
    }
  }
  return ok_status();
}

Status SavedTypes::complete(LineState& state) {
  std::vector<Operand>& operands = state.line.operands;
  const bool is_typed =
      operands.size() > 1 && operands[1].kind == Operand::Kind::kType;
  if (operands.empty() || is_typed ||
      operands[0].kind != Operand::Kind::kString) {
    return ok_status();
  }
  const auto type = type_of(unquote(operands[0].text));
  if (!type.ok()) {
    return Error{"load: " + type.error().message, operands[0].column};
  }
  state.added_texts.push_back(to_string(type.value()));
  operands.insert(operands.begin() + 1,
                  {Operand::Kind::kType, 0, state.added_texts.back(), {}});
  if (!state.where.operands.empty()) {
    state.where.operands.insert(state.where.operands.begin() + 1, Ranks{});
  }
  return ok_status();
}

void SavedTypes::note(const LineState& state, const std::vector<Type>& saved) {
  const std::string path = unquote(state.line.operands[1].text);
  if (saved.size() == 1) {
    types_[normal_path(path)] = saved[0];
    return;
  }
  for (size_t p = 0; p < saved.size(); ++p) {
    const std::string rank = std::to_string(state.where.ranks[p]);
    types_[normal_path(path_of_rank(path, rank))] = saved[p];
  }
}

void SavedTypes::describe(std::string& text) const {
  for (const auto& [path, type] : types_) {
    text += path + " " + to_string(type) + "\n";
  }
}

}  // namespace gt::emit
