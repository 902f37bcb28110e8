#include "exec/storage/load.h"

#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "exec/backend/element.h"
#include "exec/storage/stored_rows.h"
#include "file/stored.h"
#include "ops/part.h"
#include "stream/line.h"

namespace gt::exec {
namespace {

class LoadKernel final : public Kernel {
 public:
  LoadKernel(const Call& call, Saves& saves, Device& device)
      : saves_(saves),
        device_(device),
        path_(unquote(call.arguments[0].text)),
        type_(call.results[0]),
        part_(part_of(call).value()) {
    if (call.arguments.size() <= kRowOfLoad) return;
    row_ = call.type(kRowOfLoad).dtype;
    row_is_literal_ = call.arguments[kRowOfLoad].literal;
  }

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    const StoredPath parts = split_path(path_);
    saves_.settle(parts.file);
    if (const std::string why = saves_.failures().of(path_); !why.empty()) {
      return Error{path_ + " was not saved: " + why};
    }
    const auto fd = saves_.files().open(parts.file);
    if (!fd.ok()) return fd.error();
    const auto stored = read_stored(fd.value().get(), parts, saves_.headers());
    if (!stored.ok()) return stored.error();
    const auto first = row(in);
    if (!first.ok()) return first.error();
    const auto read_to = [&](void* data) -> Status {
      const Status s = read_block(fd.value().get(), stored.value(), type_,
                                  first.value(), part_, data);
      if (s.ok()) return s;
      return Error{path_ + " " + s.error().message};
    };
    return device_.fill(out[0], type_.bytes(), read_to);
  }

 private:
  Result<int64_t> row(std::span<const void* const> in) const {
    if (in.size() <= kRowOfLoad || in[kRowOfLoad] == nullptr) return 0;
    std::array<char, sizeof(int64_t)> bytes{};
    if (row_is_literal_) {
      std::memcpy(bytes.data(), in[kRowOfLoad], size_of(row_));
    } else if (Status s = device_.download(in[kRowOfLoad], bytes.data(),
                                           size_of(row_));
               !s.ok()) {
      return s.error();
    }
    return load_int(row_, bytes.data(), 0);
  }

  Saves& saves_;
  Device& device_;
  std::string path_;
  Type type_;
  Part part_;
  Dtype row_ = Dtype::kI64;
  bool row_is_literal_ = false;
};

}  // namespace

std::unique_ptr<Kernel> make_load_kernel(const Call& call, Saves& saves,
                                         Device& device) {
  return std::make_unique<LoadKernel>(call, saves, device);
}

}  // namespace gt::exec
