// A character-level GPT: trains on a text and writes on.
//
//   mini_gpt TEXT [STEPS [CHARACTERS]]
#include <gt/nn.h>
#include <gt/optim.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>

namespace nn = gt::nn;

constexpr int64_t kContext = 64, kWidth = 64, kLayers = 2, kHeads = 4;
constexpr int64_t kBatch = 16, kCharacters = 256;

struct Gpt : nn::Module {
  nn::Embedding table{
      this, "table", kCharacters, kWidth, {.init = nn::init::normal(0.02)}};
  nn::ModuleList<nn::TransformerBlock> blocks{this, "blocks"};
  nn::RMSNorm norm{this, "norm", kWidth};

  Gpt() : Module("gpt") {
    for (int64_t i = 0; i < kLayers; ++i) {
      blocks.add(kWidth, nn::TransformerBlockOptions{
                             .attention = {.heads = kHeads, .fused = true}});
    }
  }
  // Characters i64[n,s] give logits f32[n,s,256].
  gt::Tensor operator()(const gt::Tensor& characters) const {
    gt::Tensor x = table(characters);
    for (size_t i = 0; i < blocks.size(); ++i) {
      const gt::Signal signal("layer" + std::to_string(i));
      x = blocks[i](x);
    }
    return table.logits(norm(x));
  }
};

// Windows of the text from anywhere: what is seen, and what comes next.
struct Windows {
  gt::Tensor seen, next;
  explicit Windows(const gt::Tensor& text) {
    const gt::Signal signal("batch");
    const int64_t last = text.size(0) - kContext;
    gt::Tensor at = (gt::rand({kBatch, 1}) * last).cast(gt::i64);
    at = (at + gt::arange(gt::i64(kContext + 1))).reshape({-1});
    const gt::Tensor all =
        text.gather(at).cast(gt::i64).reshape({kBatch, kContext + 1});
    seen = all(gt::_, gt::Range::to(-1));
    next = all(gt::_, gt::Range::from(1));
  }
};

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: mini_gpt TEXT [STEPS [CHARACTERS]]\n";
    return 2;
  }
  const int steps = argc > 2 ? std::atoi(argv[2]) : 300;
  const int characters = argc > 3 ? std::atoi(argv[3]) : 200;
  std::ifstream file(argv[1], std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  if (bytes.size() <= kContext) {
    std::cerr << "mini_gpt: there is no text in " << argv[1] << '\n';
    return 4;
  }
  const gt::Tensor text = gt::from_blob(
      bytes.data(), gt::u8(static_cast<int64_t>(bytes.size())), "text");

  Gpt gpt;
  gt::optim::AdamW optimizer(gpt.parameters(),
                             gt::optim::cosine(3e-3, steps, 0.1).warmup(20),
                             {.beta2 = 0.99, .decay = 0.1});
  for (int step = 0; step < steps; ++step) {
    const Windows windows(text);
    const gt::Tensor loss = gt::cross_entropy(gpt(windows.seen), windows.next);
    loss.backward();
    optimizer.clip_grad_norm(1);
    optimizer.step();
    optimizer.zero_grad();
    if (step % 50 == 0 || step == steps - 1) loss.print("loss");
  }

  gpt.eval();
  const gt::NoGrad no_grad;
  gt::Tensor window =
      text(gt::Range::to(kContext)).cast(gt::i64).reshape({1, kContext});
  std::string written;
  for (int i = 0; i < characters; ++i) {
    const gt::Tensor logits = gpt(window)(0, kContext - 1) / 0.7;
    // Gumbel noise: the largest is a draw from the softmax.
    const gt::Tensor noise = -log(-log(gt::rand({kCharacters})));
    const gt::Tensor next = (logits + noise).argmax().reshape({1, 1});
    window = gt::concat({window(gt::_, gt::Range::from(1)), next}, {.axis = 1});
    written += static_cast<char>(next.item<int>());
  }
  std::cout << written << '\n';
}
