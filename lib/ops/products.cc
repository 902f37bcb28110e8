// Matrix products.
#include "ops/families.h"
#include "ops/shape_rules.h"

namespace gt {
namespace {

// The placeholders of matrix products. If a batch is multiplied with one
// matrix, that matrix's gradient is one product of [rows, k] and [rows, n],
// rather than a sum over the batch. {fold}: "1" if that is so; {rows} and
// {inner}: rows and k; {outer}: n.
//
// {narrow}: the dtype of the operands if out= makes the result a wider one,
// else "same". The result's gradient is cast to it, so that all products have
// one dtype.
std::string product_word(const Call& call, std::string_view name, size_t) {
  if (name == "narrow") {
    const Dtype joined = promote(call.arguments);
    const bool same = joined == call.results[0].dtype;
    return std::string(same ? "same" : to_string(joined));
  }
  const Shape& x = call.type(0).shape;
  const Shape& y = call.results[0].shape;
  const bool batched = x.size() != 2;
  if (name == "fold") {
    const bool plain = call.type(1).shape.size() == 2 && !call.flag("ta");
    return batched && plain && call.folds ? "1" : "0";
  }
  if (name == "inner") return std::to_string(x.back());
  if (name == "outer") return std::to_string(y.back());
  if (name != "rows") return "";
  int64_t rows = 1;
  for (size_t i = 0; i + 1 < x.size(); ++i) rows *= x[i];
  return std::to_string(rows);
}

// If the sizes would fit with b transposed, the error says so: PyTorch keeps a
// layer's weight as [out,in].
Status types_product(Call& call) {
  Status s = infer_by_terms(call);
  if (s.ok()) return widen_result(call);
  const Shape& a = call.type(0).shape;
  const Shape& b = call.type(1).shape;
  const bool linear = call.op->key_index("tb") < 0;
  if (a.empty() || b.size() < 2 || b.back() == b[b.size() - 2]) return s;
  const bool exchanged = call.flag("tb");
  const int64_t inner =
      call.flag("ta") && a.size() > 1 ? a[a.size() - 2] : a.back();
  if (inner != (exchanged ? b[b.size() - 2] : b.back())) return s;
  const std::string name(call.arguments[1].text);
  return Error{s.error().message + "; " +
               (linear ? "the weight is [in,out], where PyTorch's is [out,in]: "
                         "transpose " +
                             name + " first"
                : exchanged ? "without tb=1 they fit"
                            : "tb=1 takes " + name + " transposed")};
}

constexpr Row kProductRows[] = {
    {.signature = "y = matmul a b ta=0 tb=0 [out=]",
     .index = "...mk,...kn->...mn",
     .linear = "0 1",
     .accepts = "number",
     .gradient = R"(
       [narrow=same] g = copy dy
       [narrow!=same] g = cast dy {narrow}
       [ta=0 tb=0] da = matmul g b tb=1
       [ta=0 tb=1] da = matmul g b
       [ta=1 tb=0] da = matmul b g tb=1
       [ta=1 tb=1] da = matmul b g ta=1 tb=1
       [fold=1] p = reshape a shape={rows},{inner}
       [fold=1] q = reshape g shape={rows},{outer}
       [fold=1 tb=0] db = matmul p q ta=1
       [fold=1 tb=1] db = matmul q p ta=1
       [fold=0 ta=0 tb=0] db = matmul a g ta=1
       [fold=0 ta=0 tb=1] db = matmul g a ta=1
       [fold=0 ta=1 tb=0] db = matmul a g
       [fold=0 ta=1 tb=1] db = matmul g a ta=1 tb=1)",
     .types = types_product,
     .placeholder = product_word,
     .flops = 2,
     .sense = "Matrix product over the last two dimensions.",
     .details = "a [...,m,k] and b [...,k,n] give [...,m,n]; ta=1 and tb=1 "
                "take [...,k,m] and [...,n,k]. Leading dimensions broadcast. "
                "f16 and bf16 accumulate in f32, and with out=f32 are not "
                "rounded back; integers in i64. Errors: fewer than two "
                "dimensions; inner sizes differ; bool; another out=.",
     .source = "BLAS gemm; torch.matmul, torch.mm, torch.bmm; numpy.dot; "
               "of x and unsqueeze v axis=1, then squeeze axis=1, it is "
               "torch.mv; of [n,1] and [1,m] it is torch.outer; between "
               "transpose and reshape, torch.einsum, torch.tensordot; x by w, "
               "and that by y, is torch.nn.functional.bilinear",
     .example = "a = tensor f32[2,2] 1 2 3 4\n"
                "y = matmul a a tb=1\n"
                "print y\n"
                "=> y = tensor f32[2,2] 5 11 11 25",
     .factors = "01",
     .weight_operand = 1},
    {.signature = "y = linear x w [b] [out=]",
     .index = "...k,kn,n->...n",
     .linear = "02 12",
     .accepts = "number",
     .gradient = R"(
       [narrow=same] g = copy dy
       [narrow!=same] g = cast dy {narrow}
       db = copy dy
       [x.rank!=1] dx = matmul g w tb=1
       [x.rank=1] t = transpose w
       [x.rank=1] dx = linear g t
       [x.rank=1] p = unsqueeze x axis=0
       [x.rank=1] q = unsqueeze g axis=0
       [x.rank=1] dw = matmul p q ta=1
       [x.rank!=1 fold=0] dw = matmul x g ta=1
       [x.rank!=1 fold=1] p = reshape x shape={rows},{inner}
       [x.rank!=1 fold=1] q = reshape g shape={rows},{outer}
       [x.rank!=1 fold=1] dw = matmul p q ta=1)",
     .expansion = R"(
       [x.rank=1] r = unsqueeze x axis=0
       [x.rank=1] s = matmul r w out={out}
       [x.rank=1] t = squeeze s axis=0
       [x.rank!=1 b] t = matmul x w out={out}
       [b] y = add t b
       [!b x.rank=1] y = copy t
       [!b x.rank!=1] y = matmul x w out={out})",
     .in_f32 = true,
     .types = types_product,
     .placeholder = product_word,
     .flops = 2,
     .sense = "Matrix product of the last dimension, plus a bias.",
     .details = "x [...,k], w [k,n] and b [n] give [...,n]; f16 and bf16 are "
                "computed in f32, and with out=f32 not rounded back. Errors: "
                "sizes differ; w is not a matrix; bool; another out=.",
     .source = "torch.nn.functional.linear, with w transposed; torch.addmm "
               "with the bias first",
     .example = "x = tensor f32[2] 1 2\n"
                "w = tensor f32[2,2] 1 2 3 4\n"
                "b = tensor f32[2] 10 20\n"
                "y = linear x w b\n"
                "print y\n"
                "=> y = tensor f32[2] 17 30",
     .factors = "012",
     .weight_operand = 1},
};

}  // namespace

constinit const Family kProducts{"products", "Matrix products.", kProductRows};

}  // namespace gt
