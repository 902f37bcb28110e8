#include "serve/file_looks.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "file/stored.h"
#include "ops/table.h"
#include "stream/line.h"

namespace gt::serve {
namespace {

struct Path {
  std::string path;
  bool has_type = true;  // the line does not ask for the type of the file
};

// Returns the paths below the client's directory that the line names.
std::vector<Path> paths_of(std::string_view line) {
  std::vector<Path> paths;
  Line parsed;
  if (line.find('"') == std::string_view::npos ||
      !parse_line(line, parsed).ok()) {
    return paths;
  }
  const Statement statement = statement_of(parsed.op);
  if (statement != Statement::kLoad && statement != Statement::kSave) {
    return paths;
  }
  const bool has_type =
      statement == Statement::kSave ||
      std::ranges::any_of(parsed.operands, [](const Operand& operand) {
        return operand.kind == Operand::Kind::kType;
      });
  for (const Operand& operand : parsed.operands) {
    if (operand.kind != Operand::Kind::kString) continue;
    std::string path = unquote(operand.text);
    if (stays_below(path)) paths.push_back({std::move(path), has_type});
  }
  return paths;
}

}  // namespace

FileLooks::FileLooks(DiskThreads& disk, std::string files)
    : disk_(disk),
      files_(std::move(files)),
      headers_(std::make_shared<SafetensorsCache>()) {}

bool FileLooks::is_ready(std::string_view line) {
  if (pending_ != nullptr) {
    if (!pending_->is_done()) return false;
    seen_ = pending_->take();
    pending_.reset();
    if (line == line_) return true;
  }
  seen_.clear();
  std::vector<Path> paths = paths_of(line);
  if (paths.empty()) return true;
  auto looking = disk_.run<Seen>([files = files_, headers = headers_,
                                  paths = std::move(paths)] {
    Seen seen;
    for (const auto& [path, has_type] : paths) {
      seen.emplace(path, emit::look_at_file(
                             files, path, has_type ? nullptr : headers.get()));
    }
    return seen;
  });
  // Without a thread for it the session looks itself.
  if (!looking.ok()) return true;
  pending_ = std::move(looking.value());
  line_ = line;
  return false;
}

emit::FileLook FileLooks::seen(const std::string& path) {
  const auto at = seen_.find(path);
  return at != seen_.end() ? at->second
                           : emit::look_at_file(files_, path, headers_.get());
}

}  // namespace gt::serve
