// Files: what is in them, saving, taking up again, and batches of rows.
#pragma once

#include <cinttypes>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include <gt/gt.h>

namespace gt::inline v1 {

// The type of a tensor in a file, "f.npy", "f.safetensors:NAME": what was last
// saved there, else what the file has. On a cluster it is known of files that
// were saved, sent or fetched.
inline Type stored_type(const std::string& path, At at = At::here()) {
  int64_t sizes[8];
  gt_type type{};
  detail::check(gt_stored_type(current_session(at), path.c_str(), &type, sizes),
                at);
  return {Shape(sizes, sizes + type.rank), Dtype(type.dtype)};
}

// A cluster has files of its own, which load and save mean there. send() stores
// one of this process's there, under the same path, before it is loaded;
// fetch() waits for all that was saved, and gets one. On this machine both have
// nothing to carry. The path is relative, and has no "..".
inline void send(const std::string& path, At at = At::here()) {
  detail::check(gt_send_file(current_session(at), path.c_str()), at);
}
inline void fetch(const std::string& path, At at = At::here()) {
  detail::check(gt_fetch_file(current_session(at), path.c_str()), at);
}

// So many of its rows from `first` on, a number or the name of a scalar. Only
// these are read, and not by this process.
inline Tensor load_rows(const std::string& path, const Input& first,
                        int64_t rows, At at = At::here()) {
  Type type = stored_type(path, at);
  if (type.shape.empty()) {
    gt_set_error(GT_WRONG, "load_rows: %s holds a scalar", path.c_str());
    detail::fail(at);
  }
  type.shape[0] = rows;
  return load(path, type, first, at);
}

// Writes a line that saves it: "f.npy", or "f.safetensors:NAME". Nothing waits,
// but what loads that path later sees it.
inline void save(const Tensor& x, const std::string& path, At at = At::here()) {
  detail::Call call("save", at);
  call.add(x);
  call.add_text(GT_STRING, path);
  call.bind(nullptr, 0);
}

// Tensors by the names that they are stored under.
using StateDict = std::vector<std::pair<std::string, Tensor>>;

namespace detail {

// Not inlined, as a vector that grows is much code.
[[gnu::noinline]] inline void append(StateDict& to, const std::string& name,
                                     const Tensor& tensor) {
  to.emplace_back(name, tensor);
}

}  // namespace detail

namespace detail {

// "mlp" and "w" with a point between them, and so on.
[[gnu::noinline]] inline std::string joined(const std::string& a, char between,
                                            const std::string& b) {
  std::string out = a;
  out += between;
  out += b;
  return out;
}

}  // namespace detail

// Writes lines that save the tensors in a safetensors file, each under its
// name. Nothing waits; the file is whole or not there.
inline void save(const StateDict& state, const std::string& path,
                 At at = At::here()) {
  for (const auto& [name, tensor] : state) {
    detail::Call call("save", at);
    const std::string place = detail::joined(path, ':', name);
    call.add(tensor);
    call.add_text(GT_STRING, place);
    call.bind(nullptr, 0);
  }
}
// Writes lines that bind the tensors again to those of the file, whose types
// must be theirs.
inline void load(const StateDict& state, const std::string& path,
                 At at = At::here()) {
  for (const auto& [name, tensor] : state) {
    detail::Call call("load", at);
    const std::string place = detail::joined(path, ':', name);
    const Type type = tensor.type(at);
    call.add_text(GT_STRING, place);
    call.add(type);
    gt_value* const into[] = {tensor.raw()};
    call.bind(into, 1);
  }
}
// All of several: {model.state_dict(), optimizer.state_dict()}.
inline StateDict joined(std::initializer_list<StateDict> parts) {
  StateDict out;
  for (const StateDict& part : parts) {
    for (const auto& [name, x] : part) detail::append(out, name, x);
  }
  return out;
}

struct BatchesOptions {
  int64_t first = 0;           // row of the file
  int64_t rows = 0;            // so many from there; 0: to the end
  std::string name = "batch";  // its register is NAME.row
};
// Batches of neighbouring rows of .npy files of equal length, over and over. A
// batch is one line a file, `x = load "x.npy" f32[100,64] batch.row`, the same
// text each time: the row is a register, which the stream itself moves on. Rows
// that fill no whole batch are left out.
class Batches {
 public:
  Batches(std::vector<std::string> paths, int64_t size,
          const BatchesOptions& options = {}, At at = At::here())
      : paths_(std::move(paths)), first_(options.first) {
    int64_t rows = options.rows;
    for (const std::string& path : paths_) {
      Type type = stored_type(path, at);
      if (type.shape.empty()) {
        gt_set_error(GT_WRONG, "Batches: %s holds a scalar, which has no rows",
                     path.c_str());
        detail::fail(at);
      }
      const int64_t there = type.shape[0] - first_;
      if (first_ < 0 || there <= 0) {
        gt_set_error(GT_WRONG,
                     "Batches: %s has %" PRId64 " rows, and no row %" PRId64,
                     path.c_str(), type.shape[0], first_);
        detail::fail(at);
      }
      if (rows == 0) rows = there;
      if (there < rows) {
        gt_set_error(GT_WRONG,
                     "Batches: %s has %" PRId64 " rows from row %" PRId64
                     " on, not %" PRId64,
                     path.c_str(), there, first_, rows);
        detail::fail(at);
      }
      type.shape[0] = size;
      types_.push_back(std::move(type));
    }
    if (size < 1 || rows < size) {
      gt_set_error(GT_WRONG,
                   "Batches: there is no batch of %" PRId64 " rows in %" PRId64,
                   size, rows < 0 ? 0 : rows);
      detail::fail(at);
    }
    size_ = size;
    steps_ = rows / size;
    row_name_ = options.name;
    row_name_ += ".row";
    const int64_t zero = 0;
    row_ = from_blob(&zero, i64(), row_name_, at);
  }

  // The batches in a round through the files.
  int64_t steps() const { return steps_; }
  // A tensor of each file.
  std::vector<Tensor> next(At at = At::here()) {
    std::vector<Tensor> out;
    {
      const Signal signal("batch");
      const Tensor row = first_ == 0 ? row_ : add(row_, first_, at);
      for (size_t i = 0; i < paths_.size(); ++i) {
        out.push_back(gt::load(paths_[i], types_[i], row, at));
      }
    }
    row_.add_(size_, at);
    row_.mod_(steps_ * size_, at);
    return out;
  }
  // Where it stands, for a checkpoint.
  StateDict state_dict() const {
    StateDict out;
    detail::append(out, row_name_, row_);
    return out;
  }

 private:
  std::vector<std::string> paths_;
  std::vector<Type> types_;
  int64_t first_;
  int64_t size_ = 0;
  int64_t steps_ = 0;
  std::string row_name_;
  Tensor row_;
};

}  // namespace gt::inline v1
