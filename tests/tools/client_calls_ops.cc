// The calls of client_calls of ops whose rows do not say how they are called,
// and of losses.
#include <cmath>

#include "client_calls.h"

namespace nn = gt::nn;

namespace client_calls {

void listed_ops() {
  const Tensor x = of("x_f32"), y = of("y_f32"), m = of("m_f32"),
               r = of("r_f32"), s = of("s_f32"), i = of("i"), j = of("j"),
               image = gt::unsqueeze(x, 0), n = numbers({2, 5}),
               queries = numbers({1, 4, 3, 4});
  using gt::_;
  using gt::Range;
  // creation
  CALL("torch.full((2, 3), 1.5)", gt::full({2, 3}, 1.5))
  CALL("torch.full((2,), 3, dtype=torch.int64)", gt::full(gt::i64(2), 3))
  CALL("torch.zeros(2, 3)", gt::zeros({2, 3}))
  CALL("torch.ones(2, dtype=torch.bfloat16)", gt::ones({{2}, gt::bf16}))
  CALL("torch.arange(5)", gt::arange(gt::i64(5)))
  CALL("torch.arange(1.0, 3.0, 0.5)", gt::arange({4}, 1, 0.5))
  CALL("torch.eye(2, 3)", gt::eye({2, 3}))
  CALL("torch.arange(9)", gt::sort(gt::randperm(gt::i64(9), 3))[0])
  CALL("torch.tensor(True)",
       gt::all((gt::rand({999}, 1) < 1) & (gt::rand({999}, 1) >= 0)))
  CALL("torch.tensor(True)",
       gt::abs(gt::std(gt::randn({9999}, 1, {.scale = 3})) - 3) < 0.1)
  CALL("torch.tensor([1.5, 2])", gt::tensor({1.5F, 2.0F}))
  CALL("torch.tensor([1, 2], dtype=torch.int32)", gt::tensor({1, 2}))
  CALL("x_f32", gt::load("x.npy"))
  // of three operands, and with words
  CALL("torch.where(x > 1, x, y)", gt::where(x > 1, x, y))
  CALL("torch.where(x > 1, x, 0)", gt::where(x > 1, x, 0))
  CALL("torch.where(x > 1, 1, 2.0)", gt::where(x > 1, 1, 2.0))
  CALL("torch.clamp(x, 1, 3)", gt::clamp(x, 1, 3))
  CALL("torch.clamp(x, y, y + 1)", x.clamp(y, y + 1))
  CALL("torch.clamp(x_i64, 1, 3)", of("x_i64").clamp(1, 3))
  for (const char* dtype : kDtypes) {
    const std::string name = std::string("y_") + dtype;
    CALL(name + ".to(torch.float16)", gt::cast(of(name), gt::f16))
    CALL(name + ".to(torch.int64)", gt::cast(of(name), gt::i64))
    CALL(name + ".to(torch.uint8)", gt::cast(of(name), gt::u8))
    CALL(name + ".to(torch.bool)", of(name).cast(gt::boolean))
    const std::string wide = std::string("x_") + dtype;
    CALL("torch.cumsum(" + wide + ", 1)", gt::cumsum(of(wide), 1))
    CALL("torch.flip(" + wide + ", (0, 2))",
         gt::flip(of(wide), {.axis = {0, 2}}))
    CALL("torch.sort(" + wide + ", dim=1, stable=True)",
         gt::sort(of(wide), {.axis = 1}))
    CALL("torch.cat([" + wide + ", " + name + "], 1)",
         gt::concat({of(wide), of(name)}, {.axis = 1}))
    CALL("torch.matmul(m_" + std::string(dtype) + ", m_" + dtype + ")",
         gt::matmul(of("m", dtype), of("m", dtype)))
  }
  CALL("F.gelu(x, approximate='tanh')", gt::gelu(x, {.approximate = "tanh"}))
  CALL("F.softplus(x, beta=2, threshold=3)",
       gt::softplus(x, {.beta = 2, .threshold = 3}))
  // statistics and order
  CALL("torch.var(x, 1, correction=0)",
       gt::var(x, {.axis = 1, .correction = 0}))
  CALL("torch.std(x, dim=(0, 2), correction=2, keepdim=True)",
       gt::std(x, {.axis = {0, 2}, .correction = 2, .keepdims = true}))
  CALL("torch.linalg.vector_norm(x, 1)", gt::norm(x, {.ord = 1}))
  CALL("torch.linalg.vector_norm(x, float('inf'), dim=1)",
       gt::norm(x, {.axis = 1, .ord = INFINITY}))
  CALL("F.normalize(x, dim=-1)", gt::normalize(x))
  CALL("F.normalize(x, p=1, dim=1)", gt::normalize(x, {.axis = 1, .ord = 1}))
  CALL("F.normalize(x * 0, dim=-1, eps=1e-3)",
       gt::normalize(x * 0, {.eps = 1e-3}))
  CALL("torch.argsort(n, dim=1, descending=True, stable=True)",
       gt::argsort(n, {.axis = 1, .descending = true}))
  CALL("torch.sort(n)", gt::sort(n))
  CALL("torch.topk(n, 3)", gt::topk(n, 3))
  CALL("torch.topk(n, 1, dim=0)", n.topk(1, {.axis = 0}))
  // products
  CALL("m @ m.t()", gt::matmul(m, m, {.tb = true}))
  CALL("x.mT @ y", gt::matmul(x, y, {.ta = true}))
  CALL("m_bf16.float() @ m_bf16.float()",
       gt::matmul(of("m_bf16"), of("m_bf16"), {.out = gt::f32}))
  CALL("x @ numbers(4, 5)", gt::linear(x, numbers({4, 5})))
  CALL("x @ numbers(4, 5) + numbers(5)",
       gt::linear(x, numbers({4, 5}), numbers({5})))
  CALL(
      "x_f16.float() @ numbers(4, 5).half().float() + "
      "numbers(5).half().float()",
      gt::linear(of("x_f16"), numbers({4, 5}, gt::f16), numbers({5}, gt::f16),
                 {.out = gt::f32}))
  // layout and indexing
  CALL("x.reshape(6, 4)", gt::reshape(x, {6, 4}))
  CALL("x.reshape(-1, 2)", x.reshape({-1, 2}))
  CALL("x.unsqueeze(1)", gt::unsqueeze(x, 1))
  CALL("x.unsqueeze(-1)", x.unsqueeze(-1))
  CALL("image.squeeze()", gt::squeeze(image))
  CALL("image.squeeze(0)", gt::squeeze(image, {.axis = 0}))
  CALL("x.permute(2, 1, 0)", gt::transpose(x))
  CALL("x.permute(0, 2, 1)", x.transpose({.axes = {0, 2, 1}}))
  CALL("r.expand(3, 4)", gt::expand(r, {3, 4}))
  CALL("image.expand(5, -1, -1, -1)", image.expand({5, -1, -1, -1}))
  CALL("F.pad(x, (1, 2, 0, 1), value=3)",
       gt::pad(x, {0, 0, 0, 1, 1, 2}, {.value = 3}))
  CALL("x[0]", x(0))
  CALL("x[-1, 0:2]", x(-1, {0, 2}))
  CALL("x[:, :, 2]", x(_, _, 2))
  CALL("x[:, ::2, 1:]", x(_, Range::every(2), Range::from(1)))
  CALL("x[:, :-1]", x(_, Range::to(-1)))
  CALL("x.narrow(1, 1, 2)", x.slice(1, 2, 1))
  CALL("x[:, 1]", x(_, gt::tensor(int64_t{1})))
  CALL("torch.stack([x, y])", gt::stack({x, y}))
  CALL("torch.stack([x, y], -1)", gt::stack({x, y}, {.axis = -1}))
  CALL("torch.cat([x, y, x])", gt::concat({x, y, x}))
  CALL("torch.split(x, 1)", gt::split(x, 2))
  CALL("torch.split(x, [1, 2], 1)",
       gt::split(x, 2, {.axis = 1, .sizes = {1, 2}}))
  CALL("torch.gather(m, 1, i)", gt::gather(m, i, {.axis = 1}))
  CALL("torch.gather(m, 0, i)", m.gather(i))
  CALL("m.scatter_add(1, i, m)", gt::scatter_add(m, i, m, {.axis = 1}))
  CALL("m.scatter(0, i[:1], m[:1] * 2)",
       gt::scatter(m, i({0, 1}), m({0, 1}) * 2))
  CALL("torch.take(m, i)", gt::take(m, i))
  CALL("torch.index_select(x, 1, j)", gt::take(x, j, {.axis = 1}))
  CALL("F.embedding(i, m)", gt::embedding(m, i))
  CALL("F.one_hot(i, 5)", gt::one_hot(i, 5))
  CALL("x.unfold(2, 2, 1)", gt::windows(x, 2, 2))
  CALL("numbers(9).unfold(0, 3, 2)",
       gt::windows(numbers({9}), 0, 3, {.stride = 2}))
  // images
  const Tensor w = numbers({5, 2, 2, 2});
  CALL("F.conv2d(image, numbers(5, 2, 2, 2))", gt::conv2d(image, w))
  CALL(
      "F.conv2d(image, numbers(5, 2, 2, 2), numbers(5), (1, 2), (1, 0), (2, "
      "1))",
      gt::conv2d(image, w, numbers({5}),
                 {.stride = {1, 2}, .padding = {1, 0}, .dilation = {2, 1}}))
  CALL("F.conv2d(image, numbers(4, 1, 2, 2), groups=2, padding=1)",
       gt::conv2d(image, numbers({4, 1, 2, 2}), {.padding = 1, .groups = 2}))
  CALL("F.conv_transpose2d(image, numbers(2, 3, 2, 2))",
       gt::conv_transpose2d(image, numbers({2, 3, 2, 2})))
  CALL(
      "F.conv_transpose2d(image, numbers(2, 2, 2, 2), numbers(4), 2, 1, 1, 2, "
      "2)",
      gt::conv_transpose2d(image, numbers({2, 2, 2, 2}), numbers({4}),
                           {.stride = 2,
                            .padding = 1,
                            .output_padding = 1,
                            .dilation = 2,
                            .groups = 2}))
  CALL("F.max_pool2d(image, 2)", gt::max_pool2d(image, 2))
  CALL("F.max_pool2d(image, (2, 3), (1, 2), 1, 1)",
       gt::max_pool2d(image, {2, 3}, {.stride = {1, 2}, .padding = 1}))
  CALL("F.max_pool2d(image, 2, 1, 0, 2)",
       gt::max_pool2d(image, 2, {.stride = 1, .dilation = 2}))
  CALL("F.avg_pool2d(image, 2)", gt::avg_pool2d(image, 2))
  CALL("F.avg_pool2d(image, 2, 1, 1)",
       gt::avg_pool2d(image, 2, {.stride = 1, .padding = 1}))
  CALL("F.avg_pool2d(image, 2, 1, 1, count_include_pad=False)",
       gt::avg_pool2d(image, 2,
                      {.stride = 1, .padding = 1, .count_include_pad = false}))
  // networks
  CALL("torch.softmax(x, -1)", gt::softmax(x))
  CALL("torch.softmax(x, 0)", gt::softmax(x, {.axis = 0}))
  CALL("torch.log_softmax(x, 1)", gt::log_softmax(x, {.axis = 1}))
  LOSS("F.layer_norm(z, (4,))", x, gt::layer_norm(z))
  LOSS("F.layer_norm(z, (4,), r)", x, gt::layer_norm(z, r))
  LOSS("F.layer_norm(z, (4,), r, r, 1e-2)", x,
       gt::layer_norm(z, r, r, {.eps = 1e-2}))
  LOSS("F.rms_norm(z, (4,), None, 1e-5)", x, gt::rms_norm(z))
  LOSS("F.rms_norm(z, (4,), r, 1e-2)", x, gt::rms_norm(z, r, {.eps = 1e-2}))
  LOSS("F.scaled_dot_product_attention(z, y, y)", x, gt::attention(z, y, y))
  LOSS("F.scaled_dot_product_attention(z, y, y, is_causal=True)", x,
       gt::attention(z, y, y, {.causal = true}))
  LOSS("F.scaled_dot_product_attention(z, y, y, m, scale=0.3)", x,
       gt::attention(z, y, y, m, {.scale = 0.3}))
  LOSS("F.scaled_dot_product_attention(z, y, y, m > -9)", x,
       gt::attention(z, y, y, m > -9))
  LOSS(
      "F.scaled_dot_product_attention(z, numbers(1, 2, 3, 4), numbers(1, 2, 3, "
      "4), "
      "enable_gqa=True)",
      queries,
      gt::attention(z, numbers({1, 2, 3, 4}), numbers({1, 2, 3, 4}),
                    {.enable_gqa = true}))
  LOSS("by_heads(z, y, y, 2)", x, gt::attention(z, y, y, {.heads = 2}))
  LOSS("rope(z)", x, gt::rope(z))
  LOSS("rope(z, 100, 2)", x, gt::rope(z, {.base = 100, .heads = 2}))
  LOSS("rope(z, interleaved=True)", x, gt::rope(z, {.interleaved = true}))
  CALL("x", gt::dropout(x, 0))
  CALL("torch.tensor(True)",
       gt::all((gt::dropout(gt::ones({9999}), 0.25, 3) == 0) |
               (gt::dropout(gt::ones({9999}), 0.25, 3) == 4.0F / 3)))
  CALL("torch.tensor(True)",
       gt::abs(gt::mean(gt::dropout(gt::ones({9999}), 0.25, 3)) - 1) < 0.03)
}

void losses() {
  const Tensor x = of("x_f32"), y = of("y_f32"), m = of("m_f32"), i = of("i"),
               b = gt::cast(of("y_bool"), gt::f32), x_f16 = of("x_f16"),
               x_times_30 = of("x_f64") * 30, sigmoid = gt::sigmoid(x),
               log_m = gt::log_softmax(m), log_x = gt::log_softmax(x);
  LOSS("F.mse_loss(z, y)", x, gt::mse(z, y))
  LOSS("F.mse_loss(z, y, reduction='sum')", x,
       gt::mse(z, y, {.reduction = "sum"}))
  LOSS("F.mse_loss(z, y, reduction='none')", x,
       gt::mse(z, y, {.reduction = "none"}))
  LOSS("F.huber_loss(z, y)", x, gt::huber(z, y))
  LOSS("F.huber_loss(z, y, delta=2.0, reduction='sum')", x,
       gt::huber(z, y, {.delta = 2, .reduction = "sum"}))
  LOSS("F.binary_cross_entropy(z, b)", sigmoid, gt::bce(z, b))
  LOSS("F.binary_cross_entropy(z, b, reduction='none')", sigmoid,
       gt::bce(z, b, {.reduction = "none"}))
  LOSS("F.cross_entropy(z, i[0])", m, gt::cross_entropy(z, i(0)))
  LOSS("F.cross_entropy(z, i[0], reduction='none')", m,
       gt::cross_entropy(z, i(0), {.reduction = "none"}))
  LOSS("F.cross_entropy(z, i[0], reduction='sum', label_smoothing=0.1)", m,
       gt::cross_entropy(z, i(0), {.reduction = "sum", .label_smoothing = 0.1}))
  LOSS("F.cross_entropy(z, i[0], ignore_index=1)", m,
       gt::cross_entropy(z, i(0), {.ignore_index = 1}))
  LOSS("F.cross_entropy(z, i[0], numbers(3).abs())", m,
       gt::cross_entropy(z, i(0), gt::abs(numbers({3}))))
  LOSS("F.cross_entropy(z, (-m).softmax(1))", m,
       gt::mean(gt::sum(gt::softmax(-m) * -gt::log_softmax(z), {.axis = -1})))
  LOSS("F.l1_loss(z, y)", x, nn::l1_loss(z, y))
  LOSS("F.smooth_l1_loss(z, y)", x, nn::smooth_l1_loss(z, y))
  LOSS("F.smooth_l1_loss(z, y, beta=0.5)", x, nn::smooth_l1_loss(z, y, 0.5))
  LOSS("F.binary_cross_entropy_with_logits(z, b)", x,
       nn::bce_with_logits_loss(z, b))
  LOSS("F.binary_cross_entropy_with_logits(z, b.double())", x_times_30,
       nn::bce_with_logits_loss(z, gt::cast(b, gt::f64)))
  LOSS("F.nll_loss(z, i[0])", log_m, nn::nll_loss(z, i(0)))
  LOSS("F.kl_div(z, y.softmax(-1), reduction='batchmean')", log_x,
       nn::kl_div(z, gt::softmax(y)))
  LOSS("F.kl_div(z, b, reduction='batchmean')", x, nn::kl_div(z, b))
  LOSS("F.kl_div(z, b.half(), reduction='batchmean')", x_f16,
       nn::kl_div(z, gt::cast(b, gt::f16)))
  for (const char* dtype : {"f64", "f16", "bf16"}) {
    const std::string name = std::string("x_") + dtype;
    const Tensor z = of("x", dtype), target = of("y", dtype);
    const std::string pair = "(" + name + ", y_" + dtype + ")";
    CALL("F.mse_loss" + pair, gt::mse(z, target))
    CALL("F.huber_loss" + pair, gt::huber(z, target))
    CALL("F.l1_loss" + pair, nn::l1_loss(z, target))
    CALL("F.smooth_l1_loss" + pair, nn::smooth_l1_loss(z, target))
    CALL("F.cross_entropy(m_" + std::string(dtype) + ", i[0])",
         gt::cross_entropy(of("m", dtype), i(0)))
  }
}

}  // namespace client_calls
