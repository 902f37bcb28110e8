#include "exec/backend/cuda/source.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/digest.h"

namespace gt::exec::cuda {
namespace {

// Enough blocks to keep any GPU busy; beyond that, each thread of a kernel
// takes more than one element.
constexpr int64_t kMostBlocks = int64_t{1} << 16;

constexpr TextFile kFiles[] = {
#include "exec/backend/cuda/texts.inc"
};

}  // namespace

std::span<const TextFile> text_files() { return kFiles; }

namespace {

// Makes a kernel. `word` is the macro that begins it, see text/gpu_target.cuh.
Source kernel_source(std::string_view word, std::string_view header,
                     std::string_view body, std::string_view declarations) {
  const std::string all = fmt::format("{}\n{}\n{}", header, declarations, body);
  Source source;
  source.name = "gt_" + digest_text(Digest::of(all));
  source.text = fmt::format(
      "#include \"{}\"\nnamespace gt {{\nnamespace {} {{\n{}{}({}) "
      "{{\n  has_begun(a);\n  {}\n}}\n}}\n}}\n",
      header, "in_" + source.name, declarations, word, source.name, body);
  return source;
}

}  // namespace

Source make_source(std::string_view header, std::string_view body,
                   std::string_view declarations) {
  return kernel_source("GT_KERNEL", header, body, declarations);
}

Source make_items_source(std::string_view header, std::string_view body,
                         std::string_view declarations) {
  return kernel_source("GT_ITEMS_KERNEL", header, body, declarations);
}

std::string_view word_of(Dtype dtype) {
  return dtype == Dtype::kBool ? "boolean" : to_string(dtype);
}

std::string_view bits_of(Dtype dtype) {
  switch (size_of(dtype)) {
    case 1:
      return "uint8_t";
    case 2:
      return "uint16_t";
    case 4:
      return "uint32_t";
    default:
      return "uint64_t";
  }
}

std::string instance(std::string_view name,
                     const std::vector<std::string_view>& arguments) {
  return fmt::format("{}<{}>", name, fmt::join(arguments, ", "));
}

std::string source_of(const Call& call, size_t i) {
  const Argument& a = call.arguments[i];
  if (a.absent) return "Literal<i64>";
  return instance(a.literal || a.role == Role::kNumber ? "Literal" : "In",
                  {word_of(a.type.dtype)});
}

Slot scalar_slot(const Call& call, size_t i, int64_t fallback) {
  return call.given(i) ? operand(i) : number(fallback);
}

Launch each_launch(Source source, int64_t n) {
  Launch launch;
  launch.source = std::move(source);
  launch.blocks = std::clamp<int64_t>(parts_of(n, kThreads), 1, kMostBlocks);
  launch.n[0] = n;
  return launch;
}

Launch block_launch(Source source, int64_t n) {
  Launch launch;
  launch.source = std::move(source);
  launch.blocks = std::clamp<int64_t>(n, 1, kMostBlocks);
  launch.n[0] = n;
  return launch;
}

void write_lines(Launch& launch, const Lines& lines) {
  launch.n[entry::kLines] = lines.count;
  launch.n[entry::kLineSize] = lines.size;
  launch.n[entry::kLineStep] = lines.step;
}

int64_t* write_place(int64_t* n, const Shape& shape, const Strides& strides) {
  const JoinedDimensions joined = join_dimensions(shape, {strides});
  const size_t rank = joined.sizes.size();
  n[0] = static_cast<int64_t>(rank);
  for (size_t d = 0; d < rank; ++d) {
    n[1 + d] = joined.sizes[d];
    n[1 + rank + d] = joined.strides[0][d];
  }
  return n + 1 + 2 * rank;
}

}  // namespace gt::exec::cuda
