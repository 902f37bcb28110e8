// A backend with memory of its own, for tests of kernels. Their operands are in
// memory of the host, so they are copied to the device and back for each run.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "exec/backend/backend.h"

namespace gt::exec {

class Ferry final : public Kernel {
 public:
  Ferry(const Call& call, std::unique_ptr<Kernel> kernel, Device& device)
      : kernel_(std::move(kernel)), device_(device) {
    for (const Argument& a : call.arguments) {
      const bool moves = a.role == Role::kTensor && !a.absent && !a.literal;
      operands_.push_back(moves ? a.type.bytes() : 0);
      moves_.push_back(moves);
    }
    for (const Type& type : call.results) results_.push_back(type.bytes());
  }

  Status run(std::span<const void* const> in,
             std::span<void* const> out) override {
    std::vector<const void*> from(in.begin(), in.end());
    std::vector<void*> to;
    for (size_t i = 0; i < in.size(); ++i) {
      if (!moves_[i]) continue;
      void* data = device_.allocate(operands_[i]);
      EXPECT_TRUE(device_.upload(in[i], data, operands_[i]).ok());
      from[i] = data;
    }
    for (const size_t bytes : results_) to.push_back(device_.allocate(bytes));
    Status s = kernel_->run(from, to);
    if (device_.checks() > 0) s = *device_.take_check(true);
    for (size_t r = 0; r < to.size(); ++r) {
      if (s.ok()) s = device_.download(to[r], out[r], results_[r]);
      device_.release(to[r], results_[r]);
    }
    for (size_t i = 0; i < in.size(); ++i) {
      if (moves_[i]) device_.release(const_cast<void*>(from[i]), operands_[i]);
    }
    return s;
  }

 private:
  std::unique_ptr<Kernel> kernel_;
  Device& device_;
  std::vector<size_t> operands_, results_;
  std::vector<bool> moves_;
};

class FerryBackend final : public Backend {
 public:
  explicit FerryBackend(std::unique_ptr<Backend> backend)
      : backend_(std::move(backend)) {}
  std::string_view name() const override { return backend_->name(); }
  Device& device() override { return backend_->device(); }
  std::unique_ptr<Kernel> prepare(const Call& call) override {
    auto kernel = backend_->prepare(call);
    if (kernel == nullptr) return nullptr;
    return std::make_unique<Ferry>(call, std::move(kernel), device());
  }

 private:
  std::unique_ptr<Backend> backend_;
};

// Copies bytes of several sizes to the device, within it, and back.
inline void check_ways(Device& device) {
  for (const size_t bytes :
       {size_t{1}, size_t{1} << 20, (size_t{5} << 20) + 3}) {
    std::vector<char> sent(bytes);
    for (size_t i = 0; i < bytes; ++i)
      sent[i] = static_cast<char>(i * 7 + i / 251);
    void* data = device.allocate(bytes);
    void* other = device.allocate(bytes);
    ASSERT_TRUE(device.upload(sent.data(), data, bytes).ok());
    const std::vector<char> wanted = sent;
    std::fill(sent.begin(), sent.end(), '\0');  // it may change at once
    ASSERT_TRUE(device.copy(data, other, bytes).ok());
    device.release(data, bytes);
    std::vector<char> got(bytes);
    ASSERT_TRUE(device.download(other, got.data(), bytes).ok());
    device.release(other, bytes);
    EXPECT_TRUE(got == wanted) << bytes;
  }
}

}  // namespace gt::exec
