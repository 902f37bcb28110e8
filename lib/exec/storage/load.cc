#include "exec/storage/load.h"

#include <cstring>
#include <string>

#include "exec/storage/stored_rows.h"
#include "file/stored.h"
#include "ops/part.h"
#include "stream/line.h"

namespace gt::exec {
namespace {

class LoadKernel final : public Kernel {
 public:
  LoadKernel(const Call& call, Saves& saves)
      : saves_(saves),
        path_(unquote(call.arguments[0].text)),
        type_(call.results[0]),
        part_(part_of(call).value()) {
    if (call.arguments.size() > 2) row_ = call.type(2).dtype;
  }

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    const StoredPath parts = split_path(path_);
    saves_.settle(parts.file);
    if (const std::string* why = saves_.failure_of(path_)) {
      return Error{path_ + " was not saved: " + *why};
    }
    const auto fd = saves_.files().open(parts.file);
    if (!fd.ok()) return fd.error();
    const auto stored = read_stored(fd.value().get(), parts, saves_.headers());
    if (!stored.ok()) return stored.error();
    const Status s = read_block(fd.value().get(), stored.value(), type_,
                                row(in), part_, out[0]);
    if (s.ok()) return s;
    return Error{path_ + " " + s.error().message};
  }

 private:
  int64_t row(std::span<const void* const> in) const {
    if (in.size() < 3 || in[2] == nullptr) return 0;
    if (row_ == Dtype::kI32) {
      int32_t value = 0;
      std::memcpy(&value, in[2], sizeof value);
      return value;
    }
    if (row_ == Dtype::kI64) {
      int64_t value = 0;
      std::memcpy(&value, in[2], sizeof value);
      return value;
    }
    return *static_cast<const uint8_t*>(in[2]);  // u8
  }

  Saves& saves_;
  std::string path_;
  Type type_;
  Part part_;
  Dtype row_ = Dtype::kI64;
};

}  // namespace

std::unique_ptr<Kernel> make_load_kernel(const Call& call, Saves& saves) {
  return std::make_unique<LoadKernel>(call, saves);
}

}  // namespace gt::exec
